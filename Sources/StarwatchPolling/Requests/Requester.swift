import StarwatchCore
import StarwatchStore
import StarwatchTransport

/// Sends requests to a server: waits for a turn, gets a token, sends, learns from the response, and retries.
package struct Requester: Sendable {
    package let gates: Gates
    package let time: any TimeSource
    /// A random number in `0 ..< 1`.
    package let random: @Sendable () -> Double

    package init(gates: Gates, time: any TimeSource, random: @escaping @Sendable () -> Double) {
        self.gates = gates
        self.time = time
        self.random = random
    }

    /// Sends a request until it succeeds or finally fails. Cancelling the task cancels it.
    package func send(_ job: RequestJob, through gate: Gate) async -> RequestReply {
        // A task without a preference could leave the gate on a transport's thread: a thread that works for an actor takes
        // the jobs of other tasks along. What the host program does in its closures would hold up every request.
        let hasPreference = withUnsafeCurrentTask { $0?.unownedTaskExecutor != nil }
        return hasPreference
            ? await sendHere(job, through: gate) : await Offload.run { await sendHere(job, through: gate) }
    }

    private func sendHere(_ job: RequestJob, through gate: Gate) async -> RequestReply {
        var progress = Progress()
        while true {
            let attempt: RequestJob.Try
            switch await takeTurn(job, through: gate, progress) {
            case .go(let next): attempt = next
            case .end(let end): return progress.reply(end)
            }
            (progress.tries, progress.requestID) = (attempt.number, attempt.requestID)
            let exchange = await job.send(attempt)
            await gate.ended(account: job.account, acknowledging: job.identifiers, now: time.now)
            (progress.serverRequestID, progress.duration) = (exchange.report.serverRequestID, exchange.report.duration)
            await job.observer?.tried(exchange, attempt)
            await learn(from: exchange.report, at: gate)
            let failure: APIFailure
            switch exchange.outcome {
            case .success(let response):
                let askedAt = (gate.clock?.now ?? time.now) - exchange.report.duration
                return progress.reply(.answer(response, askedAt: askedAt))
            case .failure(let error): failure = error
            }
            if let wait = RetryPolicy.serverWait(for: failure) {
                await gates.followClock()
                await gate.hold(until: time.now + wait, now: time.now)
            }
            await job.observer?.failed(failure, attempt, exchange.report)
            if let end = await retry(job, after: failure, attempt, &progress) { return progress.reply(end) }
        }
    }

    /// The state of a request between its attempts.
    private struct Progress {
        var tries = 0
        var requestID = ""
        var serverRequestID: String?
        var duration = Duration.zero
        var refused: AccessToken?
        var isTokenRenewed = false

        func reply(_ end: RequestEnd) -> RequestReply {
            RequestReply(
                end: end,
                tries: tries,
                requestID: requestID,
                serverRequestID: serverRequestID,
                duration: duration
            )
        }
    }

    // MARK: - Retries

    /// Waits for the next attempt.
    ///
    /// - Returns: The end of the request if there is no other attempt.
    private func retry(
        _ job: RequestJob,
        after failure: APIFailure,
        _ attempt: RequestJob.Try,
        _ progress: inout Progress
    ) async -> RequestEnd? {
        // The wait that the request makes because the server asked for it, here or in a later cycle.
        let isServersWait = RetryPolicy.serverWait(for: failure) != nil
        switch (decide(job, failure, attempt, progress), job.retries) {
        case (_, .never): return .failed(failure)
        case (.retry(let delay, _), .tokenOnly):
            guard isServersWait else { return .failed(failure) }
            job.observer?.throttled(by: .server, for: delay)
            return .deferred(until: time.now + delay, failure: failure)
        case (.retry(let delay, let reason), .policy):
            if isServersWait { job.observer?.throttled(by: .server, for: delay) }
            job.observer?.retrying(because: reason, after: delay)
            return (try? await time.sleep(for: delay)) == nil ? .failed(.cancelled) : nil
        case (.renewTokenAndRetry, _) where attempt.token != nil:
            (progress.refused, progress.isTokenRenewed) = (attempt.token, true)
            job.observer?.retrying(because: .unauthenticated, after: nil)
            return nil
        case (.deferUntil(let wait), _):
            job.observer?.throttled(by: .server, for: wait)
            return .deferred(until: time.now + wait, failure: failure)
        case (.renewTokenAndRetry, _), (.giveUp(exhausted: false), _): return .failed(failure)
        case (.giveUp(exhausted: true), _):
            if let reason = RetryReason(failure.failureClass) { job.observer?.exhausted(because: reason) }
            return .failed(failure)
        }
    }

    private func decide(
        _ job: RequestJob,
        _ failure: APIFailure,
        _ attempt: RequestJob.Try,
        _ progress: Progress
    ) -> RetryDecision {
        var policy: RetryPolicy?
        // A host's retry policy does not limit an attempt with a new token.
        if case .policy(let own) = job.retries, failure.failureClass != .unauthenticated { policy = own }
        return RetryDecision.decide(
            failure: failure,
            attempt: attempt.number,
            random: random(),
            tokenRenewed: progress.isTokenRenewed,
            policy: policy
        )
    }

    // MARK: - Turns

    private enum Turn {
        case go(RequestJob.Try)
        case end(RequestEnd)
    }

    /// Waits until the request can go, and gets its token. Returns the request's end if it cannot go in time.
    private func takeTurn(_ job: RequestJob, through gate: Gate, _ progress: Progress) async -> Turn {
        let ticket = TicketQueue.Ticket()
        let turn = await takeTurn(job, through: gate, progress, ticket)
        if case .end = turn { await gate.leave(ticket, account: job.account) }
        return turn
    }

    private func takeTurn(
        _ job: RequestJob,
        through gate: Gate,
        _ progress: Progress,
        _ ticket: TicketQueue.Ticket
    ) async -> Turn {
        let (account, identifiers) = (job.account, job.identifiers)
        do throws(StoreError) {
            while !Task.isCancelled {
                await gates.followClock()
                let now = time.now
                let turn = try await gate.turn(
                    account: account,
                    ticket: ticket,
                    acknowledging: identifiers,
                    now: now
                )
                if case .wait(let until, let source) = turn {
                    job.observer?.throttled(by: source, for: until - now)
                    if let end = await wait(until: until, from: now, job) { return .end(end) }
                    continue
                }
                // The request is too late for its deadline, or belongs to a previous identity.
                if Task.isCancelled { break }
                if case .before(let end) = job.patience, now >= end {
                    return .end(.deferred(until: now, failure: nil))
                }
                job.observer?.turnCame()
                let token: AccessToken?
                do { token = try await job.token(progress.refused) } catch { return .end(.noToken(error)) }
                // Counted when it goes: the token can have taken a while, and another request can have received a wait
                // meanwhile.
                await gates.followClock()
                let admittedAt = time.now
                let admission = try await gate.admit(
                    account: account,
                    ticket: ticket,
                    acknowledging: identifiers,
                    now: admittedAt
                )
                guard admission == .go else { continue }
                return .go(
                    RequestJob.Try(
                        token: token,
                        number: progress.tries + 1,
                        requestID: RandomID.uuid(),
                        admittedAt: admittedAt
                    )
                )
            }
            return .end(.failed(.cancelled))
        } catch {
            return .end(.unstored(error))
        }
    }

    /// Sleeps until `until`.
    ///
    /// - Returns: The end of the request if the wait is too long for it, or if the task was cancelled.
    private func wait(until: Timestamp, from now: Timestamp, _ job: RequestJob) async -> RequestEnd? {
        let isTooLong =
            switch job.patience {
            case .inline: until - now > RetryDecision.longestInlineWait
            case .before(let end): until >= end
            }
        if isTooLong { return .deferred(until: until, failure: nil) }
        return (try? await time.sleep(for: until - now)) == nil ? .failed(.cancelled) : nil
    }

    // MARK: - Learning

    /// Learns the server's time and limits from a response.
    private func learn(from report: RequestReport, at gate: Gate) async {
        guard report.status != nil else { return }
        gate.clock?.observe(
            serverTime: report.serverTime,
            date: report.date,
            age: report.hasAge ? "" : nil,
            sentAt: report.sentAt.wall,
            roundTrip: report.roundTrip
        )
        // A rejection states its own wait, so the budget would only be a guess.
        guard report.status != 429, report.status != 503,
            report.rateLimitRemaining != nil || report.rateLimit != nil
        else { return }
        await gates.followClock()
        let now = time.now
        let budget = ServerBudget.read(
            remaining: report.rateLimitRemaining,
            reset: report.rateLimitReset,
            rateLimit: report.rateLimit,
            answerDate: report.date.flatMap { HTTPDate.parse($0, now: now) },
            now: now
        )
        if let budget { await gate.observe(budget, now: now) }
    }
}

extension RequestReport {
    /// The time from the request to the response. If the machine slept or the wall clock was set, the two clocks
    /// disagree. The result is then large, so the response says little about the server's clock.
    fileprivate var roundTrip: Duration {
        let wall = receivedAt.wall - sentAt.wall
        let monotonic = receivedAt.monotonic - sentAt.monotonic
        let difference = wall > monotonic ? wall - monotonic : monotonic - wall
        return difference > .seconds(1) ? max(monotonic, difference) : monotonic
    }
}
