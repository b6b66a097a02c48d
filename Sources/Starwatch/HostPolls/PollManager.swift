import Foundation
public import ServiceLifecycle
public import StarwatchCore
import StarwatchStore
import StarwatchTransport

/// Polls whatever a host application describes: once, or on a schedule.
///
/// An agent has one, ``Agent/pollManager``, which shares its database, its metrics and its promises to its server, and
/// runs with it. A program without an agent makes its own and runs it in its `ServiceGroup`.
///
/// Every request goes the same way: it is validated, its query and body are made, it waits for its turn, gets a token,
/// is tried as often as its failures permit, and its answer is checked and transformed. The same request made twice at
/// the same time goes once.
public actor PollManager: Service {
    nonisolated let runner: RequestRunner
    nonisolated let flights: SingleFlight<PreparedRequest.Identity, RequestRunner.Answer>
    /// What one-time requests were last answered with.
    nonisolated let validators = ValidatorBook()
    nonisolated let time: any TimeSource
    nonisolated let metrics: HostPollMetrics?
    /// For requests without one of their own; `nil`: the policy of each class of failures.
    nonisolated let retry: RetryPolicy?
    private nonisolated let store: Store?
    private nonisolated let limit: ConcurrencyLimit
    private var entries: [ScheduleID: ScheduleEntry] = [:]
    private var added: AsyncStream<ScheduleEntry>.Continuation?

    /// A manager of one's own.
    ///
    /// - Parameters:
    ///   - database: The SQLite file that schedules, watermarks and promises to servers outlive a restart in; made when
    ///     it is not there, with mode 0600. `nil`, the default: they end with the process.
    ///   - maxConcurrentPolls: Runs of schedules under way at once, those of one schedule never being two. By default 3.
    ///   - requestsPerMinute: Requests to one server in any 60 s. By default 100.
    ///   - retry: For requests without a policy of their own. `nil`, the default: the policy of each class of failures.
    /// - Throws: ``AgentError`` of kind `configuration` when the database cannot be used.
    public init(
        database: String? = nil,
        maxConcurrentPolls: Int = 3,
        requestsPerMinute: Int = 100,
        retry: RetryPolicy? = nil
    ) throws(AgentError) {
        let time = SystemClock()
        let http: HTTPClient
        let store: Store?
        do throws(HTTPError) {
            http = try HTTPClient(
                clock: { StarwatchTransport.ClockReading(wall: time.now, monotonic: time.monotonic) }
            )
        } catch {
            throw AgentError(.configuration, error.description)
        }
        do throws(StoreError) {
            store = try database.map { path throws(StoreError) in try Store(StoreOptions(path: path)) }
        } catch {
            throw AgentError(.configuration, error.description)
        }
        self.init(
            http: http,
            store: store,
            time: time,
            maxConcurrentPolls: maxConcurrentPolls,
            requestsPerMinute: requestsPerMinute,
            retry: retry
        )
    }

    /// - Parameters:
    ///   - agent: Whose server, clock and limits are shared; `nil`: there is none.
    ///   - metrics: `nil`: nothing is counted.
    ///   - onJoin: Called when somebody begins to wait for a request, with how many now wait for the same.
    init(
        http: any HTTPTransport,
        store: Store?,
        time: any TimeSource,
        maxConcurrentPolls: Int = 3,
        requestsPerMinute: Int = 100,
        retry: RetryPolicy? = nil,
        agent: APICaller? = nil,
        metrics: HostPollMetrics? = nil,
        onJoin: @escaping @Sendable (Int) -> Void = { _ in },
        random: @escaping @Sendable () -> Double = { .random(in: 0..<1) }
    ) {
        self.store = store
        self.time = time
        self.metrics = metrics
        self.retry = retry
        flights = SingleFlight(onJoin: onJoin)
        limit = ConcurrencyLimit(max(1, maxConcurrentPolls))
        runner = RequestRunner(
            http: http,
            time: time,
            random: random,
            gates: Gates(agent: agent, store: store, requestsPerMinute: requestsPerMinute, time: time)
        )
    }

    /// The watermarks of the database; of this process only, where there is none.
    public nonisolated var storage: any StorageAdapter {
        store.map { SQLiteStorage(store: $0, time: time) } ?? memory
    }

    private nonisolated let memory = InMemoryStorage()

    /// Lets go of all schedules, and closes the database of a manager of one's own; an agent's is closed with it.
    public func close() async {
        endSchedules()
        await store?.close()
    }

    /// Lets go of all schedules, which stay in the database: what the host gave them to do may hold the agent.
    func endSchedules() { entries.removeAll() }

    // MARK: - Schedules

    /// Begins to make a request again and again, as soon as ``run()`` runs.
    ///
    /// A name that a former run of the program used goes on where it was: its next run, and the validator of its last
    /// answer.
    ///
    /// - Returns: The name, or the one that was made.
    /// - Throws: ``PollError`` with the code `SCHEDULE_ERROR` when the name, the timing or the database cannot be used,
    ///   or the name is taken.
    @discardableResult
    public func schedule<Request, Response>(
        _ poll: PollSchedule<Request, Response>
    ) async throws(PollError) -> ScheduleID {
        let made = ScheduleID(madeAt: time.now)
        guard let id = poll.name.map({ ScheduleID($0) }) ?? made, let name = PollName(id.rawValue) else {
            throw Self.notScheduled(
                "a name has lower-case letters, digits and _, begins with a letter and has at most 63."
            )
        }
        guard entries[id] == nil else { throw Self.notScheduled("the name is taken; cancel that schedule first.") }
        var options = PollOptions(name: name, kind: .starredProjects)
        options.timing = poll.timing
        let schedule: Schedule
        do throws(AgentError) { schedule = try Factories.schedule(options) } catch {
            throw Self.notScheduled(error.message)
        }
        if let problem = Self.problem(with: poll.request) { throw problem }
        var stored = StoredSchedule(configuration: poll.timing.json)
        do throws(StoreError) {
            try await store?.addHostSchedule(id.rawValue, configuration: poll.timing.json, now: time.now)
            stored = try await store?.hostSchedule(id.rawValue) ?? stored
        } catch {
            throw Self.notScheduled(error.description)
        }
        guard entries[id] == nil else { throw Self.notScheduled("the name is taken; cancel that schedule first.") }
        let entry = ScheduleEntry(
            id: id,
            schedule: schedule,
            catchUp: poll.catchUp,
            slowDown: poll.slowDown.map { ($0.afterEmptyRuns, $0.factor) },
            stored: stored
        ) { [weak self] validator in
            guard let self else { return ScheduleEntry.Report(error: .cancelled) }
            return await self.run(poll, validator: validator)
        }
        entries[id] = entry
        added?.yield(entry)
        return id
    }

    /// Ends a schedule and forgets it; a run under way is given up. One that is not there is passed over.
    ///
    /// - Throws: ``PollError`` with the code `SCHEDULE_ERROR` when the database fails: it has ended all the same, and is
    ///   not forgotten.
    public func cancel(_ id: ScheduleID) async throws(PollError) {
        entries.removeValue(forKey: id)?.isCancelled.raise()
        do throws(StoreError) { try await store?.removeHostSchedule(id.rawValue) } catch {
            throw Self.notScheduled(error.description)
        }
    }

    /// How a schedule stands; `nil` when there is none of that name.
    public func status(of id: ScheduleID) -> PollStatus? { entries[id]?.status(now: time.now) }

    /// Follows all schedules, also those that are added later, until the service is told to stop or its task is
    /// cancelled. A run under way is then given up; its answer counts as not seen.
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

    /// Gives up what is under way for an identity: it is not the active one any more.
    nonisolated func abort() { flights.abort { $0.account != nil } }

    private static func notScheduled(_ reason: String) -> PollError {
        PollError(.schedule, "Failed to schedule poll: \(reason)", isRetryable: false)
    }

    // MARK: - Following

    /// Follows one schedule until it, or the task, is cancelled.
    private nonisolated func follow(_ entry: ScheduleEntry) async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await self.loop(entry) }
            group.addTask { await entry.isCancelled.wait() }
            await group.next()
            group.cancelAll()
        }
    }

    private nonisolated func loop(_ entry: ScheduleEntry) async {
        // A run that could not reach the server, or had to wait, is not left to the next scheduled time.
        var extra: Timestamp?
        while !Task.isCancelled {
            let now = time.now
            switch entry.decision(now: now) {
            case .sleep(let until, let planned):
                if entry.plan(planned) { await save(entry) }
                if let due = extra, due <= now {
                    extra = await run(entry)
                } else {
                    try? await time.sleep(for: min(until, extra ?? until) - now)
                }
            case .run(_, _, _, let next):
                if entry.leavesOut() {
                    _ = entry.plan(next)
                    continue
                }
                // Planned only when it is made: one that a crash cut short is due again.
                extra = await run(entry, next: next)
                if case .coalesce(_, let next) = entry.decision(now: time.now, isRunning: true) {
                    if entry.plan(next) { await save(entry) }
                }
            case .skip(_, let next), .coalesce(_, let next):
                if entry.plan(next) { await save(entry) }
            case .idle:
                try? await time.sleep(for: SchedulerDecision.longestSleep)
            }
        }
    }

    /// One run, when it is its turn; when to try once more outside the schedule.
    private nonisolated func run(_ entry: ScheduleEntry, next: Timestamp?? = .none) async -> Timestamp? {
        let report = await limit.run { await entry.run(on: time) }
        // Cancelled in the middle: the same run is due when the schedule is taken up again.
        guard let report, report.error?.code != .cancelled || !Task.isCancelled else { return nil }
        if let next { _ = entry.plan(next) }
        await save(entry)
        guard let error = report.error, error.isRetryable else { return nil }
        let now = time.now
        if let wait = error.retryAfter { return now + max(wait, .seconds(1)) }
        switch error.code {
        // While another request tries the server, nobody knows when the next one may.
        case .circuitOpen: return now + ExtraRun.afterAnothers
        case .network: return now + ExtraRun.afterNetworkFailure
        case .timeout, .server: return now + ExtraRun.afterServerFailure
        default: return nil
        }
    }

    private nonisolated func save(_ entry: ScheduleEntry) async {
        // What cannot be stored is known for as long as the process runs; the next run stores it again.
        try? await store?.saveHostSchedule(entry.stored, id: entry.id.rawValue, now: time.now)
    }

    /// One run of a schedule's own.
    private nonisolated func run<Request, Response>(
        _ poll: PollSchedule<Request, Response>,
        validator: StoredValidator?
    ) async -> ScheduleEntry.Report {
        do {
            let context = try await poll.context()
            let (result, next) = await exchange(poll.request, context: context, validator: validator)
            if result.error?.code == .cancelled { return ScheduleEntry.Report(error: .cancelled) }
            // An answer for a former identity is nobody's.
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
