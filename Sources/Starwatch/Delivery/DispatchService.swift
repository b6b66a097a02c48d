import Logging
import ServiceLifecycle
package import StarwatchCore
package import StarwatchStore
import StarwatchTelemetry
import StarwatchTransport
import Synchronization

/// Groups what waits in the outbox into notifications and hands them to the sinks.
package final class DispatchService: Service {
    /// What one pass did.
    package struct Pass: Sendable, Hashable {
        /// Notifications that were made.
        package var made = 0
        /// Rows that every sink is done with.
        package var delivered = 0
        package var dead = 0
        /// Notifications that came to their end and had no row: digests.
        package var settled = 0
        /// When there is something to do again; `nil` when only a new row can give work.
        package var next: Timestamp?
    }

    /// The options of delivery, and of the outbox as far as delivery goes by them.
    package struct Options: Sendable {
        package let delivery: DeliveryOptions
        package let maxRetries: Int

        package init(delivery: DeliveryOptions, maxRetries: Int) {
            self.delivery = delivery
            self.maxRetries = maxRetries
        }
    }

    /// The most rows of one notification; more wait for the next one.
    static let rowsPerNotification = 1000
    /// For how long what an agent claimed is left to it, should it end. An attempt may take longer: passes never overlap.
    static let lease = Duration.seconds(120)

    let polls: [Poll]
    let sinks: [SinkSlot]
    let store: Store
    private let account: Account
    let options: DeliveryOptions
    let messages: Messages
    /// Since when a poll that never succeeded has had the chance to.
    let startedAt: Timestamp
    let maxRetries: Int
    let environment: Environment
    private let wakes: Wakes
    private let passes = PassRunner<Pass>()
    /// The latest time of a pass; a pass before it finds the clock set back.
    private let latest = Mutex<Timestamp?>(nil)
    private let memory = PassMemory()

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
        messages = options.delivery.catalogues.messages(for: LocaleTag(options.delivery.locale) ?? .english)
        self.environment = environment
        startedAt = environment.clock.now
        self.wakes = wakes
    }

    var server: String { account.server }
    var clock: ServerClock { environment.clock }
    var metrics: AgentMetrics { environment.metrics }
    var logger: Logger { environment.logger }

    /// Passes whenever something was stored or is due. When told to stop, it finishes the pass under way and makes
    /// one more, so that what the last poll brought is not left lying.
    package func run() async throws {
        await PassLoop(wake: wakes.dispatch, time: environment.time, finishes: true).run {
            let next = await self.pass().next
            return next.map { min(max($0 - self.clock.now, .zero), .seconds(30)) } ?? .seconds(30)
        }
    }

    /// Makes the notifications that are due and tries every sink that is due. Passes never overlap.
    package func pass() async -> Pass {
        await passes.run { await self.passOnce() } ?? Pass()
    }

    /// Gives up the pass under way, because the identity changed, and returns when it has ended.
    package func abort() async {
        await passes.abort()
        // It may have found nothing because it was given up, or for the identity that left.
        memory.forget()
    }

    private func passOnce() async -> Pass {
        var pass = Pass()
        let (revision, start) = (store.revision, clock.now)
        let rest = memory.rest(revision: revision, at: start)
        if rest.isResting {
            latest.withLock { $0 = start }
            return Pass(next: rest.next)
        }
        memory.forget()
        var open: [OpenNotification] = []
        var failure: StoreError?
        do throws(StoreError) {
            guard try await collect(&open, &pass) else { return pass }
        } catch {
            failure = error
        }
        // What was claimed before the store failed would else wait until its lease ends.
        await deliver(open, &pass)
        do throws(StoreError) {
            if let failure { throw failure }
            if let next = try await store.nextDeliveryAt() { pass.next = min(pass.next ?? next, next) }
            // Staleness comes with time alone.
            if open.isEmpty, !options.stalenessNotice {
                memory.remember(revision: revision, at: start, next: pass.next)
            }
        } catch {
            logger.log(.dispatchStoreFailed, [.error: "\(error.description)"])
            pass.next = clock.now + .seconds(5)
        }
        if pass.delivered > 0 || pass.dead > 0 { wakes.acknowledge.raise() }
        if pass.settled > 0 { wakes.digests.raise() }
        return pass
    }

    /// Claims what is due: what is open already, then what waits to be announced.
    ///
    /// - Returns: Whether there is an identity.
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
        // What waited for a sink is no more urgent for it; `sorted` is stable.
        open = open.sorted { priority(of: $0.stream.poll) > priority(of: $1.stream.poll) }
        return true
    }

    /// At the first pass, and whenever the clock was set back: a former run's clock may have been ahead.
    private func settleTimes() async throws(StoreError) {
        let now = clock.now
        // A transaction that fails is tried again at the next pass.
        guard latest.withLock({ latest in latest.map { now < $0 } ?? true }) else {
            return latest.withLock { $0 = now }
        }
        try await store.settleFutureTimes(now: now, lease: Self.lease, longestWait: .seconds(75))
        latest.withLock { $0 = now }
    }

    /// Since when the oldest row that could be delivered now has been due; `nil` if there is none.
    ///
    /// A row that waits for its group, or for a sink's next try, is not due.
    package func oldestDue(in snapshot: StoreSnapshot) -> Timestamp? {
        let now = clock.now
        guard snapshot.identity.did != nil else { return nil }
        var due = snapshot.nextDeliveryAt
        for (key, stream) in snapshot.streams {
            guard let oldest = stream.oldestPending else { continue }
            let notified = stream.lastNotifiedAt.map { $0 + groupInterval(of: key.poll) }
            let since = max(oldest + options.groupWait, notified ?? oldest)
            due = min(due ?? since, since)
        }
        return due.flatMap { $0 <= now ? $0 : nil }
    }

    private func priority(of poll: PollName) -> Int { polls.first { $0.name == poll }?.options.priority ?? 0 }

    /// The least time between two notifications of a poll.
    private func groupInterval(of poll: PollName) -> Duration {
        polls.first { $0.name == poll }?.options.groupInterval ?? options.groupInterval
    }

    /// Makes the stream's notification, if one may be made now.
    ///
    /// - Parameter poll: `nil` for what a poll or server has left that is not configured any more.
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
        let runID = RandomID.runID()
        let id = RandomID.notificationID()
        let (kind, name) = (poll?.kind ?? .starredProjects, stream.poll)
        let shortlink = RandomID.shortlink()
        let largest = poll?.options.maxGroupSize ?? options.maxGroupSize
        let (messages, names) = (messages, options.projectNames)
        let notification = try await store.claim(
            stream,
            now: now,
            limit: Self.rowsPerNotification,
            leaseUntil: now + Self.lease,
            sinks: active
        ) { rows in
            let needsShortlink = NotificationMessage.needsShortlink(rows.count, largestGroup: largest)
            let fields = rows.compactMap { row in row.changedFields.map { (row.change.id, $0) } }
            let message = NotificationMessage(
                id: id,
                runID: runID,
                poll: name,
                kind: kind,
                changes: rows.map(\.change),
                context: NotificationContext(
                    largestGroup: largest,
                    messages: messages,
                    names: names,
                    fields: Dictionary(fields) { $1 },
                    shortlink: needsShortlink ? shortlink : nil
                ),
                createdAt: now
            )
            return (OutgoingNotification(message), needsShortlink ? shortlink : nil)
        }
        guard let notification else { return [] }
        pass.made += 1
        if let poll { metrics.outbox.notifications[poll.label, notification.outgoing.group].increment() }
        if due.count > notification.outgoing.count { pass.next = now }
        return [notification]
    }
}
