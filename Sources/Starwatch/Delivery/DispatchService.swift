import Logging
import ServiceLifecycle
package import StarwatchCore
package import StarwatchStore
import StarwatchTelemetry
import StarwatchTransport
import Synchronization

/// Groups pending outbox rows into notifications and delivers them to the sinks.
package final class DispatchService: Service {
    /// The result of one pass.
    package struct Pass: Sendable, Hashable {
        /// Number of notifications created.
        package var made = 0
        /// Number of rows that every sink has finished.
        package var delivered = 0
        package var dead = 0
        /// Number of finished notifications without rows: digests.
        package var settled = 0
        /// Time of the next due work; `nil` when only a new row can create work.
        package var next: Timestamp?
    }

    /// Delivery options, and the outbox options that delivery uses.
    package struct Options: Sendable {
        package let delivery: DeliveryOptions
        package let maxRetries: Int
    }

    /// Maximum number of rows that one pass claims of a poll, for the sake of memory. The next pass claims the rest, without
    /// a wait.
    static let rowsPerPass = 10 * NotificationMessage.listedChanges
    /// Duration of a claim if the agent ends. An attempt can take longer, because passes never overlap.
    static let lease = Duration.seconds(120)

    let polls: [Poll]
    let sinks: [SinkSlot]
    let store: Store
    private let account: Account
    let options: DeliveryOptions
    let renderer: NotificationRenderer
    /// Start time by the local clock. A poll that never succeeded is measured from here.
    let startedAt: Timestamp
    let maxRetries: Int
    let environment: Environment
    private let wakes: Wakes
    private let passes = PassRunner()
    /// Whether the result of an attempt could not be stored since the last pass.
    let hasLostResult = Atomic<Bool>(false)
    /// Times of the latest pass, by the server's clock and the local one. An earlier one means that it was set back.
    private let latest = Mutex<(server: Timestamp, local: Timestamp)?>(nil)

    package init(
        polls: [Poll],
        sinks: [SinkSlot],
        store: Store,
        account: Account,
        options: Options,
        environment: Environment,
        wakes: Wakes
    ) {
        self.polls = polls
        self.sinks = sinks
        self.store = store
        self.account = account
        self.options = options.delivery
        maxRetries = options.maxRetries
        renderer = NotificationRenderer(polls: polls.map(\.options), options: options.delivery)
        self.environment = environment
        startedAt = environment.time.now
        self.wakes = wakes
    }

    var server: String { account.server }
    var messages: Messages { renderer.messages }
    var clock: ServerClock { environment.clock }
    var metrics: AgentMetrics { environment.metrics }
    var logger: Logger { environment.logger }

    /// Runs a pass whenever something was stored or is due. On shutdown it finishes the current pass and runs one more,
    /// which delivers the changes of the last poll.
    package func run() async throws {
        await PassLoop(wake: wakes.dispatch, time: environment.time, finishes: true).run {
            self.environment.idleTime(until: await self.pass().next)
        }
    }

    /// Creates the notifications that are due and tries every sink that is due. Passes never overlap.
    package func pass() async -> Pass {
        await passes.run { await self.passOnce() } ?? Pass()
    }

    /// Cancels the current pass because the identity changed, and returns when the pass has ended.
    package func abort() async {
        await passes.abort()
    }

    private func passOnce() async -> Pass {
        var pass = Pass()
        var open: [OpenNotification] = []
        var failure: StoreError?
        do throws(StoreError) {
            guard try await collect(&open, &pass) else {
                store.health.ended(.delivery, failed: false)
                return pass
            }
        } catch {
            failure = error
        }
        // Rows claimed before the store failed would otherwise wait until their lease expires.
        await deliver(open, &pass)
        do throws(StoreError) {
            if let failure { throw failure }
            if let next = try await store.nextDeliveryAt() { pass.next = min(pass.next ?? next, next) }
        } catch {
            logger.log(.dispatchStoreFailed, [.error: "\(error.description)"])
            pass.next = clock.now + .seconds(5)
            failure = error
        }
        let hasLostResult = hasLostResult.exchange(false, ordering: .relaxed)
        store.health.ended(.delivery, failed: failure != nil || hasLostResult)
        noteUnreadable()
        if pass.delivered > 0 || pass.dead > 0 { wakes.acknowledge.raise() }
        if pass.settled > 0 { wakes.digests.raise() }
        return pass
    }

    /// Logs rows and notifications that were set aside because they do not open.
    private func noteUnreadable() {
        let count = store.unreadable.exchange(0, ordering: .relaxed)
        guard count > 0 else { return }
        logger.log(.outboxUnreadable, [.count: .number(count)])
        // They no longer hold back the watermark, nor the end of their digest.
        wakes.acknowledge.raise()
        wakes.digests.raise()
    }

    /// Claims the due work: first the open notifications, then the rows that wait for one.
    ///
    /// - Returns: `true` if there is an identity.
    private func collect(_ open: inout [OpenNotification], _ pass: inout Pass) async throws(StoreError) -> Bool {
        try await settleTimes()
        let current = try await account.identity.current()
        guard let did = current.identity.did else { return false }
        if options.stalenessNotice { try await noticeStaleness(of: current) }
        try await makeNotices(of: did)
        try await store.readdress(to: sinks.filter { !$0.isDisabled }.map(\.name), now: clock.now)
        open = try await store.openNotifications(now: clock.now, leaseUntil: clock.now + Self.lease)
        let configured = polls.map { StreamKey(account: did, server: server, poll: $0.name) }
        for (poll, stream) in zip(polls, configured) { open += try await claim(poll, stream, &pass) }
        for stream in try await store.streams(of: did, with: .pending, except: configured) {
            open += try await claim(nil, stream, &pass)
        }
        // Waiting for a sink does not raise a notification's priority; `sorted` is stable.
        open = open.sorted { priority(of: $0.stream.poll) > priority(of: $1.stream.poll) }
        return true
    }

    /// Corrects stored times at the first pass and whenever the clock was set back. The clock of an earlier run can
    /// have been ahead.
    private func settleTimes() async throws(StoreError) {
        let (now, local) = (clock.now, environment.time.now)
        let mustSettle = latest.withLock { $0.map { now < $0.server || local < $0.local } ?? true }
        // A failed transaction is retried at the next pass.
        if mustSettle {
            try await store.settleFutureTimes(
                now: now,
                local: local,
                lease: Self.lease,
                longestWait: .seconds(75)
            )
        }
        latest.withLock { $0 = (server: now, local: local) }
    }

    /// Due time of the oldest row that can be delivered now; `nil` if there is none.
    ///
    /// A row that waits for its group interval is not due. A row whose sink is down stays due while it waits for a
    /// retry.
    package func oldestDue(in snapshot: StoreSnapshot) -> Timestamp? {
        let now = clock.now
        guard snapshot.identity.did != nil else { return nil }
        var due = snapshot.backlogs.values.map(\.oldestDue).min()
        for (key, stream) in snapshot.streams {
            guard let oldest = stream.oldestPending else { continue }
            let notified = stream.lastNotifiedAt.map { $0 + groupInterval(of: key.poll) }
            let since = max(oldest + options.groupWait, notified ?? oldest)
            due = min(due ?? since, since)
        }
        return due.flatMap { $0 <= now ? $0 : nil }
    }

    private func priority(of poll: PollName) -> Int { polls.first { $0.name == poll }?.options.priority ?? 0 }

    /// Minimum time between two notifications of a poll.
    private func groupInterval(of poll: PollName) -> Duration {
        polls.first { $0.name == poll }?.options.groupInterval ?? options.groupInterval
    }

    /// Creates the stream's notifications, if a group is allowed now.
    ///
    /// - Parameter poll: `nil` for rows of a poll or server that is no longer configured.
    private func claim(
        _ poll: Poll?,
        _ stream: StreamKey,
        _ pass: inout Pass
    ) async throws(StoreError) -> [OpenNotification] {
        let active = sinks.filter { !$0.isDisabled }.map(\.name)
        let due = try await store.dueSummary(stream)
        guard !active.isEmpty, due.count > 0 else { return [] }
        let now = clock.now
        switch GroupingDecision.decide(
            now: now,
            oldestWaiting: due.oldestCreatedAt,
            lastNotified: due.lastNotifiedAt,
            groupWait: options.groupWait,
            groupInterval: groupInterval(of: stream.poll)
        )
        {
        case .idle: return []
        case .wait(let until):
            pass.next = min(pass.next ?? until, until)
            return []
        case .notify: break
        }
        let renderer = renderer
        let notifications = try await store.claim(
            stream,
            now: now,
            limit: Self.rowsPerPass,
            leaseUntil: now + Self.lease,
            sinks: active,
            make: { rows, part in renderer.notification(of: rows, part: part, poll: stream.poll, at: now) }
        )
        pass.made += notifications.count
        if let poll {
            for notification in notifications {
                metrics.outbox.notifications[poll.label, notification.outgoing.group].increment()
            }
        }
        let claimed = notifications.reduce(0) { $0 + $1.outgoing.count }
        if claimed > 0, due.count > claimed { pass.next = now }
        return notifications
    }
}
