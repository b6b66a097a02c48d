import StarwatchCore
import StarwatchStore
import StarwatchTransport

/// Makes requests to servers: waits for a turn, gets a token, sends, learns from the response, and retries.
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

    /// Makes a request until it succeeds or finally fails. Cancelling the task cancels it.
    package func perform<Answer>(_ job: RequestJob<Answer>, through gate: Gate) async -> RequestReply<Answer> {
        // A task without a preference could leave the gate on a transport's thread: a thread that works for an actor takes
        // the jobs of other tasks along. What the host program does in its closures would hold up every request.
        guard withUnsafeCurrentTask(body: { $0?.unownedTaskExecutor != nil }) else {
            return await Offload.run { await perform(job, through: gate) }
        }
        var request = OpenRequest(job: job, gate: gate, requester: self)
        return await request.reply()
    }
}

/// A request between its attempts.
private struct OpenRequest<Answer: Sendable> {
    let job: RequestJob<Answer>
    let gate: Gate
    let requester: Requester
    var tries = 0
    var requestID = ""
    var serverRequestID: String?
    var duration = Duration.zero
    var sentAt = Duration.zero
    var refused: AccessToken?
    var isTokenRenewed = false

    private var gates: Gates { requester.gates }
    private var time: any TimeSource { requester.time }

    /// Makes attempts until one succeeds, or none follows.
    mutating func reply() async -> RequestReply<Answer> {
        while true {
            let attempt: RequestAttempt
            switch await turn() {
            case .success(let next): attempt = next
            case .failure(let failure): return reply(.failure(failure))
            }
            (tries, requestID, sentAt) = (attempt.number, attempt.requestID, time.boottime)
            let exchange = await job.exchange(attempt)
            await gate.ended(account: job.account, acknowledging: job.identifiers, now: time.now)
            (serverRequestID, duration) = (exchange.report.serverRequestID, exchange.report.duration)
            job.observer?.tried(exchange.report, attempt)
            await learnBudget(from: exchange.report)
            let failure: APIFailure
            switch exchange.outcome {
            case .success(let answer): return reply(.success(answer))
            case .failure(let error): failure = error
            }
            if let wait = RetryPolicy.serverWait(for: failure) {
                await gates.followClock()
                await gate.hold(until: time.now + wait, now: time.now)
            }
            await job.observer?.failed(failure, attempt, exchange.report)
            if let end = await retry(after: failure, attempt) { return reply(.failure(end)) }
        }
    }

    private func reply(_ result: Result<Answer, RequestFailure>) -> RequestReply<Answer> {
        RequestReply(
            result: result,
            tries: tries,
            requestID: requestID,
            serverRequestID: serverRequestID,
            duration: duration,
            sentAt: sentAt
        )
    }

    // MARK: - Turns

    /// Waits until the request can go, and gets its token. Returns the request's end if it cannot go in time.
    private func turn() async -> Result<RequestAttempt, RequestFailure> {
        let ticket = TicketQueue.Ticket()
        let turn = await turn(with: ticket)
        if case .failure = turn { await gate.leave(ticket, account: job.account) }
        return turn
    }

    private func turn(with ticket: TicketQueue.Ticket) async -> Result<RequestAttempt, RequestFailure> {
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
                    if let end = await wait(until: until, from: now) { return .failure(end) }
                    continue
                }
                // The request is too late for its deadline, or belongs to a previous identity.
                if Task.isCancelled { break }
                if case .before(let end) = job.patience, now >= end {
                    return .failure(.deferred(until: now, failure: nil))
                }
                job.observer?.turnCame()
                let token: AccessToken?
                do { token = try await job.token(refused) } catch { return .failure(.noToken(error)) }
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
                return .success(
                    RequestAttempt(
                        token: token,
                        number: tries + 1,
                        requestID: RandomID.uuid(),
                        admittedAt: admittedAt,
                        clock: gate.clock,
                        time: time
                    )
                )
            }
            return .failure(.failed(.cancelled))
        } catch {
            return .failure(.unstored(error))
        }
    }

    /// Sleeps until `until`.
    ///
    /// - Returns: The end of the request if the wait is too long for it, or if the task was cancelled.
    private func wait(until: Timestamp, from now: Timestamp) async -> RequestFailure? {
        let isTooLong =
            switch job.patience {
            case .inline: until - now > RetryDecision.longestInlineWait
            case .before(let end): until >= end
            }
        if isTooLong { return .deferred(until: until, failure: nil) }
        return (try? await time.sleep(for: until - now)) == nil ? .failed(.cancelled) : nil
    }

    // MARK: - Retries

    /// Waits for the next attempt.
    ///
    /// - Returns: The end of the request if there is no other attempt.
    private mutating func retry(after failure: APIFailure, _ attempt: RequestAttempt) async -> RequestFailure? {
        // The wait that the request makes because the server asked for it, here or in a later cycle.
        let isServersWait = RetryPolicy.serverWait(for: failure) != nil
        switch (decision(after: failure), job.retries) {
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
            (refused, isTokenRenewed) = (attempt.token, true)
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

    private func decision(after failure: APIFailure) -> RetryDecision {
        var policy: RetryPolicy?
        // A host's retry policy does not limit an attempt with a new token.
        if case .policy(let own) = job.retries, failure.failureClass != .unauthenticated { policy = own }
        return RetryDecision.decide(
            failure: failure,
            attempt: tries,
            random: requester.random(),
            tokenRenewed: isTokenRenewed,
            policy: policy
        )
    }

    // MARK: - Learning

    /// Learns the server's limits from a response.
    private func learnBudget(from report: RequestReport) async {
        // A rejection states its own wait, so the budget would only be a guess.
        guard let status = report.status, status != 429, status != 503,
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
