import StarwatchCore
import StarwatchPolling
import StarwatchStore

/// One pass of an account's work: its due polls, then delivery and acknowledgement as long as some is due.
struct Visit {
    /// What a visit leaves.
    struct End: Sendable {
        /// The time of the next work by the local clock; `nil` if only a command can bring some.
        private(set) var next: Timestamp?
        /// The times of the retries of failed polls, outside their schedules.
        fileprivate(set) var retries: [PollName: Timestamp] = [:]
        /// The start of the last cycle that asked the server; `nil` if none did.
        fileprivate(set) var attempted: Timestamp?
        /// The end of the last cycle that succeeded; `nil` if none did.
        fileprivate(set) var succeeded: Timestamp?
        /// Whether there is something to deliver or to acknowledge.
        fileprivate var hasNews = false

        fileprivate mutating func wait(for time: Timestamp?) {
            guard let time else { return }
            next = next.map { min($0, time) } ?? time
        }
    }

    /// The largest number of rounds of delivery, so that an account with very many changes does not keep others waiting.
    private static let rounds = 20

    let visited: any VisitedAccount
    let lease: AccountLease
    /// The retries that the last visit left.
    let retries: [PollName: Timestamp]
    let time: any TimeSource
    let clock: ServerClock

    func run() async -> End {
        var end = End()
        do throws(StoreError) {
            for poll in visited.polls { try await visit(poll, &end) }
        } catch {
            end.wait(for: time.now + ExtraRun.afterStoreFailure)
        }
        // Most visits find nothing, and delivery would read the database a dozen times.
        if end.hasNews || lease.hasOpenRows || !lease.wasReleased || visited.dispatcher.options.stalenessNotice {
            await deliver(&end)
        }
        return end
    }

    private func visit(_ poll: Poll, _ end: inout End) async throws(StoreError) {
        let began = time.now
        let visit = try await visited.pollService.visit(poll, retryAt: retries[poll.name])
        end.wait(for: visit.next)
        end.wait(for: visit.retryAt)
        end.retries[poll.name] = visit.retryAt
        guard let result = visit.result, result.skip == nil else { return }
        end.attempted = began
        if result.hasSucceeded { end.succeeded = time.now }
        if result.hasStored || result.suppressed > 0 || result.cursorMoved { end.hasNews = true }
    }

    private func deliver(_ end: inout End) async {
        for round in 1...Self.rounds {
            let delivery = await visited.dispatcher.pass()
            let acknowledgement = await visited.acknowledger.pass()
            let next = [delivery.next, acknowledgement.next].compactMap(\.self).min()
            guard let next, next <= clock.now, round < Self.rounds, !Task.isCancelled else {
                // The services plan by the server's clock.
                return end.wait(for: next.map(clock.local))
            }
        }
    }
}
