import StarwatchCore
import StarwatchPolling
import StarwatchStore
import StarwatchTransport

/// One pass of an account's work: its due polls, then delivery and acknowledgement as long as some is due.
struct Visit {
    /// The work that a visit leaves to the next one of its account.
    struct Memory: Sendable {
        /// The times of the retries of failed polls, outside their schedules.
        var retries: [PollName: Timestamp] = [:]
        /// Whether delivery or acknowledgement has work left.
        var mustDeliver = false

        var isEmpty: Bool { retries.isEmpty && !mustDeliver }
    }

    /// The result of a visit.
    struct End: Sendable {
        /// The time of the next work by the local clock; `nil` if only a command can bring some.
        private(set) var next: Timestamp?
        fileprivate(set) var memory = Memory()
        /// The start of the last cycle that asked the server; `nil` if none did.
        fileprivate(set) var attempted: Timestamp?
        /// The end of the last cycle that succeeded; `nil` if none did.
        fileprivate(set) var succeeded: Timestamp?
        /// Whether a cycle stored something to deliver or to acknowledge.
        fileprivate var hasNews = false

        fileprivate mutating func wait(for time: Timestamp?) {
            guard let time else { return }
            next = next.map { min($0, time) } ?? time
        }
    }

    /// The largest number of rounds of delivery, so that an account with very many changes does not keep others waiting.
    private static let rounds = 20
    /// The shortest time to a retry. Failures in a row are not counted over visits, and one account must not take the time of
    /// others.
    private static let shortestRetry = ExtraRun.afterNetworkFailure

    let visited: any VisitedAccount
    let lease: AccountLease
    /// The work that the last visit left.
    let memory: Memory
    let time: any TimeSource
    let clock: ServerClock
    /// Whether no further poll may begin: the process stops, or the lease is lost.
    let mustEnd: @Sendable () -> Bool
    /// Called when the polls have ended, before the delivery, which can take minutes.
    let hasPolled: @Sendable () -> Void

    func run() async -> End {
        var end = End()
        end.memory.retries = memory.retries
        if let pause = await pauseOfServer() {
            // No poll can run, for no account. The database is not asked what would be due.
            end.wait(for: pause)
        } else {
            await poll(&end)
        }
        hasPolled()
        let mustDeliver =
            end.hasNews || memory.mustDeliver || lease.hasOpenRows || !lease.wasReleased
            || visited.noticesStaleness
        // Most visits find nothing, and delivery would read the database a dozen times.
        if mustDeliver {
            // It works longer than the executor of cycles allows.
            end = await Offload.run { [end] in await deliver(end) }
        }
        await visited.account.gate.endVisit(of: lease.account, isInterrupted: !lease.wasReleased, now: time.now)
        return end
    }

    /// The time at which the server can be asked again; `nil` if it can be asked now.
    private func pauseOfServer() async -> Timestamp? {
        let now = time.now
        guard case .waits(let until) = try? await visited.account.gate.readiness(now: now) else { return nil }
        return until ?? now + Self.shortestRetry
    }

    private func poll(_ end: inout End) async {
        do throws(StoreError) {
            for poll in visited.polls {
                guard !mustEnd() else { return end.wait(for: time.now) }
                try await visit(poll, &end)
            }
        } catch {
            end.wait(for: time.now + Self.shortestRetry)
        }
    }

    private func visit(_ poll: Poll, _ end: inout End) async throws(StoreError) {
        let began = time.now
        let visit = try await PollVisit(poll: poll, service: visited.pollService)
            .run(retryAt: memory.retries[poll.name])
        let retry = visit.retryAt.map { visit.cycle == nil ? $0 : max($0, time.now + Self.shortestRetry) }
        end.wait(for: visit.next)
        end.wait(for: retry)
        end.memory.retries[poll.name] = retry
        guard let result = visit.cycle, result.skip == nil else { return }
        end.attempted = began
        if result.hasSucceeded { end.succeeded = time.now }
        if result.hasStored || result.suppressed > 0 || result.cursorMoved { end.hasNews = true }
    }

    private func deliver(_ former: End) async -> End {
        var end = former
        for round in 1...Self.rounds {
            let delivery = await visited.dispatcher.pass()
            let acknowledgement = await visited.acknowledger.pass()
            let next = [delivery.next, acknowledgement.next].compactMap(\.self).min()
            guard let next, next <= clock.now, round < Self.rounds, !Task.isCancelled else {
                end.memory.mustDeliver = next != nil
                // The services plan by the server's clock.
                end.wait(for: next.map(clock.local))
                break
            }
        }
        return end
    }
}

/// The services of one account that a ``Visit`` uses.
protocol VisitedAccount: Sendable {
    var account: Account { get }
    var polls: [Poll] { get }
    var pollService: PollService { get }
    var dispatcher: DispatchService { get }
    /// Whether each visit must look whether the data became stale.
    var noticesStaleness: Bool { get }
    var acknowledger: AcknowledgeService { get }

    /// Cancels the account's work, because it is no longer served, and returns when it has ended.
    func abort() async
}
