package import StarwatchCore
package import StarwatchPolling
package import StarwatchStore
import StarwatchTelemetry
import Synchronization

/// Groups pending outbox rows into notifications and delivers them to the sinks.
///
/// On shutdown it finishes the current pass and makes one more, which delivers the changes of the last poll.
package final class DispatchService: Worker {
    /// The result of one pass.
    package struct Pass: WorkerPass, Hashable {
        /// Number of notifications created.
        package var made = 0
        /// Number of rows that every sink has finished.
        package var delivered = 0
        package var dead = 0
        /// Number of finished notifications without rows: digests.
        package var settled = 0
        package var next: Timestamp?
        /// Whether the result of an attempt could not be stored.
        package var hasFailed = false

        package init() {}
    }

    package static let storeUser = StoreUser.delivery
    package static let storeFailed = AgentEvent.dispatchStoreFailed
    /// Maximum number of rows that one pass claims of a poll, for the sake of memory. The next pass claims the rest, without
    /// a wait.
    static let rowsPerPass = 10 * NotificationMessage.listedChanges
    /// Duration of a claim if the agent ends. An attempt can take longer, because passes never overlap.
    static let lease = Duration.seconds(120)

    let polls: [Poll]
    let sinks: [SinkSlot]
    let options: DeliveryOptions
    let noticesStaleness: Bool
    let maxRetries: Int
    let renderer: NotificationRenderer
    /// Start time by the local clock. A poll that never succeeded is measured from here.
    let startedAt: Timestamp
    package let account: Account
    package let passes = PassRunner()
    /// Identity and times of the latest pass, by the server's clock and the local one. An earlier time means that it was set
    /// back, and another generation that the account can have been at another agent. Also whether sinks held notifications
    /// then; sinks without hours hold no others.
    private let latest = Mutex<(identity: ActiveIdentity, server: Timestamp, local: Timestamp, holds: Bool)?>(nil)

    private let madeTotal = Atomic<Int>(0)

    /// - Parameter pseudonym: The pseudonym of one of many accounts.
    package init(
        polls: [Poll],
        sinks: [SinkSlot],
        options: AgentOptions,
        account: Account,
        pseudonym: String? = nil
    ) {
        self.polls = polls
        self.sinks = sinks
        self.options = options.delivery
        noticesStaleness = options.delivery.noticesStaleness(forMany: pseudonym != nil)
        maxRetries = options.outbox.maxRetries
        renderer = NotificationRenderer(polls: polls.map(\.options), options: options.delivery, account: pseudonym)
        startedAt = account.environment.time.now
        self.account = account
    }

    /// The number of notifications that all passes have made.
    var made: Int { madeTotal.load(ordering: .relaxed) }

    package var now: Timestamp { clock.now }

    /// Creates the notifications that are due and tries every sink that is due.
    package func work(_ result: inout Pass) async throws(StoreError) {
        guard var pass = try await DispatchPass(self) else { return }
        let joinsHeld = try await settle(pass)
        defer {
            result = pass.result
            madeTotal.add(result.made, ordering: .relaxed)
        }
        var failure: StoreError?
        do throws(StoreError) {
            try await pass.announce()
            try await pass.collect(joinsHeld: joinsHeld)
            for poll in polls { try await pass.claim(pass.stream(of: poll)) }
            for stream in try await pass.formerStreams() { try await pass.claim(stream) }
        } catch {
            failure = error
        }
        // Rows claimed before the store failed would otherwise wait until their lease expires.
        await pass.deliver()
        pass.wakeOthers()
        if let failure { throw failure }
        try await pass.findNext()
    }

    /// Corrects an account's stored times at its first pass and whenever the clock was set back. The clock of an earlier run or
    /// of another agent can have been ahead, and its sinks can have had other hours. Also drops notices that the
    /// configuration has no more.
    ///
    /// Hours are planned in every pass, because the machine's time zone can change. Without any there is nothing to look for,
    /// as in most agents.
    ///
    /// - Returns: Whether notifications that sinks held are to be joined.
    private func settle(_ pass: DispatchPass) async throws(StoreError) -> Bool {
        let (identity, now, local) = (pass.current.identity, pass.now, time.now)
        let known = latest.withLock { latest in
            latest.flatMap { $0.identity != identity || now < $0.server || local < $0.local ? nil : $0.holds }
        }
        // A failed transaction is retried at the next pass.
        if known == nil {
            try await store.deliveries.settleFutureTimes(
                of: pass.account,
                now: now,
                local: local,
                lease: Self.lease,
                longestWait: .seconds(75)
            )
            try await pass.dropFormerNotices()
        }
        let held = try await known ?? true || pass.hasHours ? pass.planHeld() : (isAny: false, isToJoin: false)
        latest.withLock { $0 = (identity: identity, server: now, local: local, holds: held.isAny) }
        return held.isToJoin
    }

    /// Due time of the oldest row that can be delivered now; `nil` if there is none.
    ///
    /// A row that waits for its group interval, or for the hours of its sink, is not due. A row whose sink is down stays due
    /// while it waits for a retry.
    package func oldestDue(in snapshot: StoreSnapshot) -> Timestamp? {
        let now = clock.now
        // Of many accounts none is active, and their notifications wait all the same.
        guard snapshot.identity.did != nil || !snapshot.backlogs.isEmpty else { return nil }
        var due = snapshot.backlogs.values.compactMap { $0.oldestDue(at: now) }.min()
        for (key, stream) in snapshot.streams {
            guard let oldest = stream.oldestPending else { continue }
            let notified = stream.lastNotifiedAt.map { $0 + groupInterval(of: key.poll) }
            let since = max(oldest + options.groupWait, notified ?? oldest)
            due = min(due ?? since, since)
        }
        return due.flatMap { $0 <= now ? $0 : nil }
    }

    func priority(of poll: PollName) -> Int { polls.first { $0.name == poll }?.options.priority ?? 0 }

    /// Minimum time between two notifications of a poll.
    func groupInterval(of poll: PollName) -> Duration {
        polls.first { $0.name == poll }?.options.groupInterval ?? options.groupInterval
    }
}
