package import Logging
package import StarwatchCore
package import StarwatchStore
import StarwatchTelemetry
package import StarwatchTransport

/// Sends one logical request: waits its turn, gets a token, tries again as the policy says, and counts all of it.
package final class APICaller: Sendable {
    /// How a logical request ended.
    package enum Outcome: Sendable {
        /// - Parameter askedAt: The server's time when the request was sent, as well as it is known.
        case answer(HTTPResponse, askedAt: Timestamp)
        /// The wait is too long to sit out.
        case deferred(until: Timestamp)
        case failed(APIFailure)
        /// There is no token to send. The text says what to do.
        case noToken(TokenError)
        /// Nothing was sent: what was spent of the rate limits could not be read or stored.
        case unstored(StoreError)
    }

    /// What is asked, whatever token and try it takes.
    package struct Call: Sendable {
        package var endpoint: Endpoint
        package var method: HTTPRequest.Method
        package var query: [(String, String)] = []
        package var body: [UInt8]?
        package var account: DID
        package var purpose: TokenPurpose
        package var runID: String
        /// The poll whose cycle this is a part of.
        package var poll: PollName?
        /// Stays through every try; `nil` for GET.
        package var idempotencyKey: String?
        /// Acknowledged identifiers, which have a limit of their own.
        package var identifiers = 0
        /// `false` where the caller keeps its own schedule of tries: one try, and one more after a refused token.
        package var isRetriedAtOnce = true
    }

    package let client: EndorserClient
    package let gate: ServerGate
    package let tokens: any TokenProvider
    /// The token last handed out: another one is a refresh.
    let lastToken = LastToken()
    /// The dialect of tokens for a server that has not answered yet.
    package let assumedDialect: Dialect
    /// The most identifiers a minute allows, and so a request.
    package let acknowledgementLimit: Int
    package let clock: ServerClock
    package let time: any TimeSource
    package let metrics: AgentMetrics
    let logger: Logger
    package let watch: ClockWatch
    package let random: @Sendable () -> Double
    /// Marked by every try of a poll, so that a long walk of pages does not look stuck.
    let progress: ProgressMark?

    package init(
        client: EndorserClient,
        gate: ServerGate,
        tokens: any TokenProvider,
        assumedDialect: Dialect,
        acknowledgementLimit: Int,
        clock: ServerClock,
        time: any TimeSource,
        metrics: AgentMetrics,
        logger: Logger,
        random: @escaping @Sendable () -> Double,
        progress: ProgressMark? = nil
    ) {
        self.client = client
        self.gate = gate
        self.tokens = tokens
        self.assumedDialect = assumedDialect
        self.acknowledgementLimit = acknowledgementLimit
        self.clock = clock
        self.time = time
        self.metrics = metrics
        self.logger = logger
        watch = ClockWatch(time: time)
        self.random = random
        self.progress = progress
    }

    package func send(_ call: Call, dialect: Dialect) async -> Outcome {
        var attempt = 0
        var renewed = false
        while true {
            let token: AccessToken?
            let admittedAt: Timestamp
            switch await takeTurn(call, dialect: dialect) {
            case .go(let taken, let time): (token, admittedAt) = (taken, time)
            case .end(let outcome): return outcome
            }
            attempt += 1
            let exchange = await exchange(call, token: token, attempt: attempt)
            await gate.ended(
                account: call.account,
                acknowledging: call.identifiers,
                admittedAt: admittedAt,
                now: time.now
            )
            await observe(exchange, call: call)
            let failure: APIFailure
            switch exchange.outcome {
            case .success(let response):
                return .answer(response, askedAt: clock.now - exchange.report.duration)
            case .failure(let error): failure = error
            }
            if let wait = RetryPolicy.serverWait(for: failure) {
                await lookAtClock()
                await gate.hold(until: time.now + wait, now: time.now)
            }
            if failure.failureClass == .unauthenticated, let token { await tokens.refuse(token) }
            let decision = RetryDecision.decide(
                failure: failure,
                attempt: attempt,
                random: random(),
                tokenRenewed: renewed
            )
            let reason = RetryReason(failure.failureClass)
            logger.log(
                .apiFailure,
                [
                    .runID: "\(call.runID)", .endpoint: "\(call.endpoint.rawValue)",
                    .result: "\(failure.result.rawValue)", .attempt: .number(attempt), .error: "\(failure.reason)",
                ]
            )
            switch decision {
            case .retry(let delay, _) where !call.isRetriedAtOnce:
                return RetryPolicy.serverWait(for: failure) == nil
                    ? .failed(failure) : .deferred(until: time.now + delay)
            case .retry(let delay, let reason):
                metrics.api.retries[call.endpoint, reason].increment(exemplar: exemplar(call))
                metrics.api.retryDelay[reason].observe(delay)
                guard (try? await time.sleep(for: delay)) != nil else { return .failed(.cancelled) }
            case .renewTokenAndRetry where token != nil:
                renewed = true
                metrics.api.retries[call.endpoint, .unauthenticated].increment(exemplar: exemplar(call))
            case .deferUntil(let wait):
                return .deferred(until: time.now + wait)
            case .renewTokenAndRetry, .giveUp(exhausted: false):
                return .failed(failure)
            case .giveUp(exhausted: true):
                if let reason {
                    metrics.api.retriesExhausted[call.endpoint, reason].increment(exemplar: exemplar(call))
                }
                return .failed(failure)
            }
        }
    }

    /// One try.
    private func exchange(_ call: Call, token: AccessToken?, attempt: Int) async -> Exchange {
        await Trace.span(.request) { span in
            let exchange = await client.send(
                EndorserRequest(
                    endpoint: call.endpoint,
                    method: call.method,
                    query: call.query,
                    body: call.body,
                    token: token,
                    idempotencyKey: call.idempotencyKey,
                    traceHeaders: span == nil ? [] : Trace.headers
                )
            )
            guard let span else { return exchange }
            span.set(.endpoint, call.endpoint)
            span.set(.runID, run: call.runID)
            span.set(.attempt, attempt)
            if let status = exchange.report.status { span.set(.status, status) }
            switch exchange.outcome {
            case .success: span.set(.outcome, exchange.report.result)
            case .failure: span.fail(exchange.report.result)
            }
            return exchange
        }
    }

    private enum Turn {
        case go(AccessToken?, admittedAt: Timestamp)
        case end(Outcome)
    }

    /// Waits until the request may go, and gets its token; an outcome when it may not, within the wait that is sat out.
    private func takeTurn(_ call: Call, dialect: Dialect) async -> Turn {
        let ticket = WaitingLine.Ticket()
        let turn = await takeTurn(call, dialect: dialect, ticket)
        if case .end = turn { await gate.leave(ticket, account: call.account) }
        return turn
    }

    private func takeTurn(_ call: Call, dialect: Dialect, _ ticket: WaitingLine.Ticket) async -> Turn {
        do {
            while true {
                await lookAtClock()
                let now = time.now
                let (account, identifiers) = (call.account, call.identifiers)
                let turn = try await gate.turn(
                    account: account,
                    ticket: ticket,
                    acknowledging: identifiers,
                    now: now
                )
                if case .wait(let until, let source) = turn {
                    let wait = until - now
                    metrics.api.throttled[call.endpoint, source].increment()
                    metrics.api.throttleWait[source].observe(wait)
                    guard wait <= RetryDecision.longestInlineWait else { return .end(.deferred(until: until)) }
                    guard (try? await time.sleep(for: wait)) != nil else { return .end(.failed(.cancelled)) }
                    continue
                }
                // Of a former identity, or at the end: not another request.
                if Task.isCancelled { return .end(.failed(.cancelled)) }
                if let poll = call.poll { progress?.mark(.poll(poll), at: time.monotonic) }
                let token: AccessToken?
                do {
                    token = try await self.token(for: account, dialect: dialect, purpose: call.purpose)
                } catch {
                    return .end(.noToken(error))
                }
                // Counted when it goes: a program may have taken its time for the token, and another request have been
                // told to wait meanwhile.
                await lookAtClock()
                let admittedAt = time.now
                let admission = try await gate.admit(
                    account: account,
                    ticket: ticket,
                    acknowledging: identifiers,
                    now: admittedAt
                )
                if admission == .go { return .go(token, admittedAt: admittedAt) }
            }
        } catch {
            return .end(.unstored(error))
        }
    }

    /// Moves every wait along with a local clock that was set since the last look.
    ///
    /// Before each use of the gate, so that no wait is counted from a clock that was set before it began.
    package func lookAtClock() async {
        let events = watch.look()
        for event in events where event.jump != .suspend {
            clock.noteStep()
            await gate.shift(by: event.jump == .forward ? event.size : .zero - event.size)
        }
        // Only now: a log whose reader is slow keeps its writer, and another request would use a gate not yet moved.
        for event in events {
            metrics.clock.jumps[event.jump].increment()
            logger.log(
                .clockJump,
                [.kind: "\(event.jump.rawValue)", .sizeMilliseconds: .number(event.size.wholeMilliseconds)]
            )
        }
    }

    /// Whether `account` has a token to show now, or needs none: a gate before the cycle, not a request.
    package func hasToken(for account: DID) async -> Bool {
        let dialect = await gate.dialect ?? assumedDialect
        do {
            _ = try await token(for: account, dialect: dialect, purpose: .poll)
            return true
        } catch {
            logger.log(.tokenUnavailable, [.error: "\(error.description)"])
            return false
        }
    }

    private func token(
        for account: DID,
        dialect: Dialect,
        purpose: TokenPurpose
    ) async throws(TokenError) -> AccessToken? {
        do {
            let token = try await tokens.token(
                for: account,
                dialect: dialect,
                purpose: purpose,
                serverTime: clock.now
            )
            if let token, lastToken.replace(with: token) { metrics.clock.tokenRefreshes[.ok].increment() }
            return token
        } catch {
            metrics.clock.tokenRefreshes[.failed].increment()
            throw error
        }
    }

    private func observe(_ exchange: Exchange, call: Call) async {
        let report = exchange.report
        let exemplar = exemplar(call)
        metrics.api.requests[report.endpoint, report.result].increment(exemplar: exemplar)
        metrics.api.latency[report.endpoint].observe(report.duration, exemplar: exemplar)
        metrics.api.sentBytes[report.endpoint].increment(by: UInt64(report.sentBytes))
        metrics.api.receivedBytes[report.endpoint].increment(by: UInt64(report.receivedBytes))
        metrics.api.rate.record(atMilliseconds: time.now.milliseconds)
        for phase in RequestPhase.allCases {
            let duration = report.measurements[phase]
            if duration > .zero { metrics.api.phases[phase].observe(duration) }
        }
        guard report.status != nil else { return }
        clock.observe(
            serverTime: report.serverTime,
            date: report.date,
            age: report.hasAge ? "" : nil,
            sentAt: report.sentAt.wall,
            roundTrip: report.roundTrip
        )
        // A refusal says itself how long to wait; its budget would only guess.
        guard report.status != 429, report.status != 503,
            report.rateLimitRemaining != nil || report.rateLimit != nil
        else { return }
        await lookAtClock()
        if let budget = ServerBudget.read(
            remaining: report.rateLimitRemaining,
            reset: report.rateLimitReset,
            rateLimit: report.rateLimit,
            answerDate: report.date.flatMap { HTTPDate.parse($0, now: time.now) },
            now: time.now
        ) {
            await gate.observe(budget, now: time.now)
        }
    }

    private func exemplar(_ call: Call) -> Exemplar? {
        Exemplar(runID: call.runID, atMilliseconds: time.now.milliseconds)
    }
}

extension RequestReport {
    /// From the request to the answer, by the clock that says more: where the machine slept in between, or the wall
    /// clock was set, the two disagree, and the answer says nothing about the server's clock.
    fileprivate var roundTrip: Duration {
        let wall = receivedAt.wall - sentAt.wall
        let monotonic = receivedAt.monotonic - sentAt.monotonic
        let difference = wall > monotonic ? wall - monotonic : monotonic - wall
        return difference > .seconds(1) ? max(monotonic, difference) : monotonic
    }
}

extension APIFailure {
    /// The agent is stopping, or the identity changed.
    static let cancelled = APIFailure(
        result: .cancelled,
        failureClass: .cancelled,
        reason: "The request was given up."
    )
}
