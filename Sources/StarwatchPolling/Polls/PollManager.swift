import Foundation
public import ServiceLifecycle
// The API of this library is made of these types, so a host imports one module.
@_exported public import StarwatchCore
package import StarwatchStore
package import StarwatchTransport

/// Runs the polls that a host application describes, once or on a schedule.
///
/// An agent has one, ``Agent/pollManager``, which shares its database, its metrics and its rate limits, and runs with
/// it. A program without an agent creates its own and runs it in its `ServiceGroup`; polls, requests, retries and waits
/// are then reported through swift-metrics.
///
/// Every request takes the same steps: the manager validates it, makes its query and body, waits for the rate limit,
/// gets a token, sends it with the retries that its failures allow, and validates and transforms the answer. Concurrent
/// identical requests are sent once.
public actor PollManager: Service {
    /// The numbers of a manager.
    public struct Limits: Sendable, Hashable {
        /// Maximum number of concurrent runs; two runs of one schedule never overlap. By default 3.
        public var concurrentPolls = 3
        /// Requests to one server in any 60 s. By default 100.
        public var requestsPerMinute = 100
        /// The retry policy of requests without one of their own. `nil`, the default: the policy of each class of
        /// failures.
        public var retry: RetryPolicy?

        /// The default numbers.
        public init() {}
    }

    /// The names of a manager's client, and who learns of its steps.
    package struct Hooks: Sendable {
        package var client = ClientNames()
        /// Called when a task begins to wait for a request, with the number that wait for the same.
        package var onJoin: @Sendable (Int) -> Void = { _ in }
        /// Counts polls and their requests.
        package var observer: any HostPollObserver = MetricsFacadeObserver()

        package init() {}
    }

    nonisolated let requester: HostRequester
    nonisolated let flights: SingleFlight<PreparedRequest.Identity, HostRequester.Answer>
    /// The validators of the last answers to one-time requests.
    nonisolated let validators = ValidatorBook()
    nonisolated let time: any TimeSource
    nonisolated let hooks: Hooks
    /// The retry policy of requests without one; `nil`: the policy of each class of failures.
    nonisolated let retry: RetryPolicy?
    private nonisolated let shared: ScheduleEntry.Shared
    private var entries: [ScheduleID: ScheduleEntry] = [:]
    private var added: AsyncStream<ScheduleEntry>.Continuation?

    /// Makes a manager without an agent.
    ///
    /// - Parameters:
    ///   - database: The SQLite file in which schedules, watermarks and waits survive a restart; created with mode 0600
    ///     if it does not exist. `nil`, the default: they end with the process.
    ///   - limits: The numbers of the manager.
    ///   - program: The host program, such as `Tally/1.2`: the first word of `User-Agent`, before Starwatch's own.
    ///     `nil`, the default: the name of the process.
    /// - Throws: ``PollError`` with the code `INVALID_CONFIGURATION` when the database cannot be used.
    public init(database: String? = nil, limits: Limits = Limits(), program: String? = nil) throws(PollError) {
        let time = SystemClock()
        var hooks = Hooks()
        hooks.client = ClientNames(host: program ?? ProcessInfo.processInfo.processName)
        do {
            let http = try HTTPClient(time: time)
            let store = try database.map { try Store(StoreOptions(path: $0)) }
            self.init(http: http, store: store, time: time, limits: limits, hooks: hooks)
        } catch {
            throw PollError(.configuration, "\(error)", isRetryable: false)
        }
    }

    /// - Parameter gates: The agent's gates; `nil`: the manager creates its own.
    package init(
        http: any HTTPTransport,
        store: Store?,
        time: any TimeSource,
        limits: Limits = Limits(),
        gates: Gates? = nil,
        hooks: Hooks = Hooks(),
        random: @escaping @Sendable () -> Double = { .random(in: 0..<1) }
    ) {
        self.time = time
        self.hooks = hooks
        retry = limits.retry
        flights = SingleFlight(onJoin: hooks.onJoin)
        shared = (time, store, ConcurrencyLimit(max(1, limits.concurrentPolls)))
        let gates = gates ?? Gates(store: store, requestsPerMinute: limits.requestsPerMinute, time: time)
        requester = HostRequester(
            http: http,
            client: hooks.client,
            observer: hooks.observer,
            requester: Requester(gates: gates, time: time, random: random)
        )
    }

    private nonisolated var store: Store? { shared.store }

    /// The watermarks of the database, or of this process if there is none.
    public nonisolated var storage: any StorageAdapter {
        store.map { SQLiteStorage(store: $0, time: time) } ?? memory
    }

    private nonisolated let memory = InMemoryStorage()

    /// Releases all schedules, and closes the manager's own database; an agent closes its database itself.
    public func close() async {
        endSchedules()
        await store?.close()
    }

    /// Releases all schedules, because the host's closures can hold the agent. The database keeps them.
    package func endSchedules() { entries.removeAll() }

    // MARK: - Schedules

    /// Adds a repeated request, which starts as soon as ``run()`` runs.
    ///
    /// A name from an earlier run of the program resumes with its next run and the validator of its last answer.
    ///
    /// - Returns: The name, or the generated one.
    /// - Throws: ``PollError`` with the code `SCHEDULE_ERROR` if the name, the timing or the database is unusable, or
    ///   the name is taken.
    @discardableResult
    public func schedule<Request, Response>(
        _ poll: PollSchedule<Request, Response>
    ) async throws(PollError) -> ScheduleID {
        let made = ScheduleID(madeAt: time.now)
        guard let id = poll.name.map({ ScheduleID($0) }) ?? made, PollName(id.rawValue) != nil else {
            throw Self.notScheduled(
                "a name has lower-case letters, digits and _, begins with a letter and has at most 63."
            )
        }
        guard entries[id] == nil else { throw Self.notScheduled("the name is taken; cancel that schedule first.") }
        let schedule: Schedule
        do throws(PollTimingError) { schedule = try Schedule(poll.timing) } catch {
            throw Self.notScheduled(error.description)
        }
        if let problem = Self.problem(with: poll.request) { throw problem }
        var stored = StoredSchedule()
        do throws(StoreError) {
            try await store?.host.addSchedule(id.rawValue, configuration: poll.timing.json, now: time.now)
            stored = try await store?.host.schedule(id.rawValue) ?? stored
        } catch {
            throw Self.notScheduled(error.description)
        }
        guard entries[id] == nil else { throw Self.notScheduled("the name is taken; cancel that schedule first.") }
        let entry = ScheduleEntry(
            id: id,
            schedule: schedule,
            catchUp: poll.catchUp,
            slowDown: poll.slowDown.map { ($0.afterEmptyRuns, $0.factor) },
            stored: stored,
            shared: shared
        ) { [weak self] validator in
            guard let self else { return ScheduleEntry.Report(error: .cancelled) }
            return await self.run(poll, validator: validator)
        }
        entries[id] = entry
        added?.yield(entry)
        return id
    }

    /// Ends a schedule and deletes it; a run in flight is cancelled. A missing schedule is ignored.
    ///
    /// - Throws: ``PollError`` with the code `SCHEDULE_ERROR` if the database fails: the schedule has ended but is not
    ///   deleted.
    public func cancel(_ id: ScheduleID) async throws(PollError) {
        entries.removeValue(forKey: id)?.isCancelled.raise()
        do throws(StoreError) { try await store?.host.removeSchedule(id.rawValue) } catch {
            throw Self.notScheduled(error.description)
        }
    }

    /// The status of a schedule; `nil` if it does not exist.
    public func status(of id: ScheduleID) -> PollStatus? { entries[id]?.status(now: time.now) }

    /// Runs all schedules, including those added later, until graceful shutdown or cancellation. A run in flight is
    /// then cancelled, and its answer counts as unseen.
    public func run() async throws {
        let (stream, continuation) = AsyncStream.makeStream(of: ScheduleEntry.self)
        added = continuation
        for entry in entries.values { continuation.yield(entry) }
        await cancelWhenGracefulShutdown {
            await withDiscardingTaskGroup { group in
                for await entry in stream { group.addTask { await self.follow(entry) } }
            }
        }
        added = nil
    }

    /// Cancels the work in flight for an identity that is no longer active.
    package nonisolated func abort() { flights.abort { $0.account != nil } }

    private static func notScheduled(_ reason: String) -> PollError {
        PollError(.schedule, "Failed to schedule poll: \(reason)", isRetryable: false)
    }

    // MARK: - Following

    /// Follows one schedule until it, or the task, is cancelled.
    private nonisolated func follow(_ entry: ScheduleEntry) async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await entry.follow(on: self.time) }
            group.addTask { await entry.isCancelled.wait() }
            await group.next()
            group.cancelAll()
        }
    }

    /// One run of a schedule.
    private nonisolated func run<Request, Response>(
        _ poll: PollSchedule<Request, Response>,
        validator: StoredValidator?
    ) async -> ScheduleEntry.Report {
        do {
            let context = try await poll.context()
            let (result, next) = await exchange(poll.request, context: context, validator: validator)
            if result.error?.code == .cancelled { return ScheduleEntry.Report(error: .cancelled) }
            // An answer for a previous identity is discarded.
            guard try await poll.context().account == context.account else {
                return ScheduleEntry.Report(error: .cancelled)
            }
            try await poll.handle(result, context)
            var report = ScheduleEntry.Report(error: result.error, validator: next)
            if result.isSuccess { report.isEmpty = result.value == nil }
            return report
        } catch {
            return ScheduleEntry.Report(error: .host("The handling of a result", error))
        }
    }
}
