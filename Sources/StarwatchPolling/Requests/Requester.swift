import StarwatchCore
import StarwatchStore
package import StarwatchTransport

/// Makes requests to servers: waits for a turn, gets a token, sends, learns from the response, and retries.
package struct Requester: Sendable {
    package let gates: Gates
    package let time: any TimeSource
    /// A random number in `0 ..< 1`.
    package let random: @Sendable () -> Double

    package init(gates: Gates, time: any TimeSource, random: @escaping @Sendable () -> Double) {
        (self.gates, self.time, self.random) = (gates, time, random)
    }

    /// Makes a request until it succeeds or finally fails. Cancelling the task cancels it.
    ///
    /// Neither this nor what it calls knows the type of the answer: generic over it, a cycle took 3 % more instructions
    /// (`Benchmarks/instructions`).
    ///
    /// - Parameter exchange: Sends one attempt, and takes its answer by ``RequestAttempt/read(_:_:)``.
    package func perform(
        _ terms: RequestTerms,
        through gate: Gate,
        exchange: @escaping @Sendable (RequestAttempt) async -> Exchange
    ) async -> RequestEnd {
        // A task without a preference could leave the gate on a transport's thread: a thread that works for an actor takes
        // the jobs of other tasks along. What the host program does in its closures would hold up every request.
        guard withUnsafeCurrentTask(body: { $0?.unownedTaskExecutor != nil }) else {
            return await Offload.run { await perform(terms, through: gate, exchange: exchange) }
        }
        var request = OpenRequest(terms: terms, gate: gate, requester: self, exchange: exchange)
        return await request.finish()
    }
}

/// A request between its attempts.
private struct OpenRequest {
    let terms: RequestTerms
    let gate: Gate
    let requester: Requester
    let exchange: @Sendable (RequestAttempt) async -> Exchange
    var end = RequestEnd()
    var refused: AccessToken?
    var isTokenRenewed = false

    private var gates: Gates { requester.gates }
    private var time: any TimeSource { requester.time }

    /// Makes attempts until one succeeds, or none follows.
    mutating func finish() async -> RequestEnd {
        while true {
            let attempt: RequestAttempt
            switch await turn() {
            case .success(let next): attempt = next
            case .failure(let failure):
                end.failure = failure
                return end
            }
            (end.tries, end.requestID, end.sentAt) = (attempt.number, attempt.requestID, time.boottime)
            let exchange = await exchange(attempt)
            await leaveGate(exchange.report)
            (end.serverRequestID, end.duration) = (exchange.report.serverRequestID, exchange.report.duration)
            end.status = exchange.report.status
            terms.observer?.tried(exchange.report, attempt)
            guard let failure = exchange.failure else { return end }
            if let wait = RetryPolicy.serverWait(for: failure) {
                await gates.followClock()
                await gate.hold(until: time.now + wait, now: time.now)
            }
            await terms.observer?.failed(failure, attempt, exchange.report)
            end.failure = await retry(after: failure, attempt)
            if end.failure != nil { return end }
        }
    }

    // MARK: - Turns

    /// Waits until the request can go, and gets its token. Returns the request's end if it cannot go in time.
    private func turn() async -> Result<RequestAttempt, RequestFailure> {
        let ticket = TicketQueue.Ticket()
        let turn = await turn(with: ticket)
        if case .failure = turn { await gate.leave(ticket, account: terms.account) }
        return turn
    }

    private func turn(with ticket: TicketQueue.Ticket) async -> Result<RequestAttempt, RequestFailure> {
        let (account, identifiers) = (terms.account, terms.identifiers)
        do throws(StoreError) {
            while !Task.isCancelled {
                await gates.followClock()
                let now = time.now
                let turn = try await gate.turn(account: account, ticket: ticket, acknowledging: identifiers, now: now)
                if case .wait(let until, let source) = turn {
                    terms.observer?.throttled(by: source, for: until - now)
                    if let end = await wait(until: until, from: now) { return .failure(end) }
                    continue
                }
                // The request is too late for its deadline, or belongs to a previous identity.
                if Task.isCancelled { break }
                if case .before(let end) = terms.patience, now >= end {
                    return .failure(.deferred(until: now, failure: nil))
                }
                terms.observer?.turnCame()
                let token: AccessToken?
                do { token = try await terms.token(refused) } catch { return .failure(.noToken(error)) }
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
                // Last, because the token and the count can take a while.
                if let account, gate.store?.accounts.canAsk(for: account, at: time.boottime) == false {
                    await gate.ended(account: account, acknowledging: identifiers, now: time.now)
                    throw .leaseLost
                }
                return .success(
                    RequestAttempt(
                        token: token,
                        number: end.tries + 1,
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
            switch terms.patience {
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
        switch (decision(after: failure), terms.retries) {
        case (_, .never): return .failed(failure)
        case (.retry(let delay, _), .tokenOnly):
            guard isServersWait else { return .failed(failure) }
            terms.observer?.throttled(by: .server, for: delay)
            return .deferred(until: time.now + delay, failure: failure)
        case (.retry(let delay, let reason), .policy), (.retry(let delay, let reason), .attempts):
            if isServersWait { terms.observer?.throttled(by: .server, for: delay) }
            terms.observer?.retrying(because: reason, after: delay)
            return (try? await time.sleep(for: delay)) == nil ? .failed(.cancelled) : nil
        case (.renewTokenAndRetry, _) where attempt.token != nil:
            (refused, isTokenRenewed) = (attempt.token, true)
            terms.observer?.retrying(because: .unauthenticated, after: nil)
            return nil
        case (.deferUntil(let wait), _):
            terms.observer?.throttled(by: .server, for: wait)
            return .deferred(until: time.now + wait, failure: failure)
        case (.renewTokenAndRetry, _), (.giveUp(exhausted: false), _): return .failed(failure)
        case (.giveUp(exhausted: true), _):
            if let reason = RetryReason(failure.failureClass) { terms.observer?.exhausted(because: reason) }
            return .failed(failure)
        }
    }

    private func decision(after failure: APIFailure) -> RetryDecision {
        var policy: RetryPolicy?
        // A policy of its own does not limit an attempt with a new token.
        switch terms.retries {
        case _ where failure.failureClass == .unauthenticated: break
        case .policy(let own): policy = own
        case .attempts(let attempts):
            policy = .standard(for: failure.failureClass)
            policy?.attempts = attempts
        case .tokenOnly, .never: break
        }
        return RetryDecision.decide(
            failure: failure,
            attempt: end.tries,
            random: requester.random(),
            tokenRenewed: isTokenRenewed,
            policy: policy
        )
    }

    // MARK: - Ends

    /// Ends an attempt at the gate, which learns the server's limits from its response.
    private func leaveGate(_ report: RequestReport) async {
        await gates.followClock()
        let now = time.now
        await gate.ended(
            account: terms.account,
            acknowledging: terms.identifiers,
            budget: budget(from: report, now: now),
            now: now
        )
    }

    private func budget(from report: RequestReport, now: Timestamp) -> ServerBudget? {
        // A rejection states its own wait, so the budget would only be a guess.
        guard let status = report.status, status != 429, status != 503,
            report.rateLimitRemaining != nil || report.rateLimit != nil
        else { return nil }
        return ServerBudget.read(
            remaining: report.rateLimitRemaining,
            reset: report.rateLimitReset,
            rateLimit: report.rateLimit,
            answerDate: report.date.flatMap { HTTPDate.parse($0, now: now) },
            now: now
        )
    }
}
