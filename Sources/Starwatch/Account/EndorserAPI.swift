import Logging
package import StarwatchCore
package import StarwatchPolling
import StarwatchStore
import StarwatchTelemetry
package import StarwatchTransport
import Synchronization

/// Client of the account's Endorser server. It adds tokens and metrics, and sends each request through the server's
/// gate.
package final class EndorserAPI: Sendable {
    /// A call, including all its tokens and tries.
    package struct Call<Answer: Sendable>: Sendable {
        package var endpoint: Endpoint
        package var method: HTTPRequest.Method
        package var query: [(String, String)] = []
        package var body: [UInt8]?
        /// The account; `nil` for a request that carries no token and counts in no account's window.
        package var account: DID?
        package var purpose: TokenPurpose
        package var runID: String
        /// The poll of the cycle that the call belongs to.
        package var poll: PollName?
        /// Idempotency key, the same for every try; `nil` for GET.
        package var idempotencyKey: String?
        /// Number of acknowledged identifiers, which have their own limit.
        package var identifiers = 0
        package var retries = RequestRetries.policy(nil)
        /// Returns the content of a 2xx or 304 response, or the failure that it is. `askedAt` is the server's time of the
        /// request, as far as it is known. Called once for each attempt.
        package var read: @Sendable (HTTPResponse, _ askedAt: Timestamp) -> Result<Answer, APIFailure>
    }

    package let client: EndorserClient
    package let gate: Gate
    package let tokens: any TokenProvider
    /// Token dialect for a server that has not responded yet.
    package let assumedDialect: Dialect
    package let requester: Requester
    let environment: Environment
    /// Whether a token was asked for before the server's clock was measured.
    private let hasUnmeasuredToken = Atomic(false)
    /// Progress mark, set by every try of a poll, so that a long walk does not look stuck.
    private let progress: ProgressMark?

    package init(
        client: EndorserClient,
        gate: Gate,
        tokens: any TokenProvider,
        assumedDialect: Dialect,
        requester: Requester,
        environment: Environment,
        progress: ProgressMark? = nil
    ) {
        (self.client, self.gate, self.tokens, self.assumedDialect) = (client, gate, tokens, assumedDialect)
        (self.requester, self.environment, self.progress) = (requester, environment, progress)
    }

    /// Adjusts every wait if the local clock was set since the last call.
    package func followClock() async { await requester.gates.followClock() }

    /// The answer to a call, and the end of its request.
    package struct Reply<Answer: Sendable>: Sendable {
        package let result: Result<Answer, RequestFailure>
        package let end: RequestEnd
    }

    /// Makes a call until it gets an answer or is given up. Returns the outcome with its cost.
    package func reply<Answer>(to call: Call<Answer>, dialect: Dialect) async -> Reply<Answer> {
        let otherClock = OtherClock()
        // The refused token is not needed: the observer has reported it.
        var terms = RequestTerms(
            account: call.account,
            observer: Observer(call: call, api: self, otherClock: otherClock)
        ) { _ in
            guard let account = call.account else { return nil }
            let time = otherClock.time(self.environment)
            return try await self.token(for: account, dialect: dialect, purpose: call.purpose, at: time)
        }
        terms.identifiers = call.identifiers
        terms.retries = call.retries
        let answer = Mutex<Answer?>(nil)
        let end = await requester.perform(terms, through: gate) { attempt in
            await Trace.span(.request) { span in
                let request = call.request(attempt, traceHeaders: span == nil ? [] : Trace.headers)
                let exchange = await attempt.read(await self.client.send(request)) { response, askedAt in
                    switch call.read(response, askedAt) {
                    case .success(let content):
                        answer.withLock { $0 = content }
                        return nil
                    case .failure(let failure): return failure
                    }
                }
                span?.describe(exchange.report, of: call, attempt)
                return exchange
            }
        }
        if let offset = otherClock.offset { note(end, by: offset) }
        return Reply(result: end.failure.map(Result.failure) ?? .success(answer.withLock { $0.take()! }), end: end)
    }

    // MARK: - Tokens

    /// The clock of one more try after the server refused a token, as an offset from the local one.
    private final class OtherClock: Sendable {
        private struct State {
            /// The offset by which the last token was minted.
            var used = Duration.zero
            var offset: Duration?
        }

        private let state = Mutex(State())
        var offset: Duration? { state.withLock(\.offset) }

        /// The time by which the next token is minted.
        func time(_ environment: Environment) -> Timestamp {
            let now = environment.time.now
            return state.withLock { state in
                state.used = state.offset ?? environment.clock.tokenTime - now
                return now + state.used
            }
        }

        /// Chooses another clock after a refusal.
        func change(_ environment: Environment, said: Timestamp?) {
            state.withLock { state in
                state.offset = state.offset ?? environment.clock.otherTokenOffset(than: state.used, said: said)
            }
        }
    }

    /// Keeps the other clock if the server took the token by it.
    private func note(_ end: RequestEnd, by offset: Duration) {
        let isTaken: Bool
        switch end.failure {
        case nil: isTaken = true
        case .failed(let failure) where failure.failureClass == .unauthenticated: isTaken = false
        // The server has not said what it thinks of the token.
        default: return
        }
        guard environment.clock.noteToken(by: offset, isTaken: isTaken) else { return }
        environment.logger.log(.clockOfTokens, [.skewMilliseconds: .number(offset.wholeMilliseconds)])
    }

    /// Returns `nil` if `account` has a token now, or if there are no tokens and polls of `kind` need none; otherwise the
    /// error. Sends no request to the server.
    ///
    /// - Parameter runID: The cycle that needs it.
    package func tokenError(for account: DID, kind: PollKind, runID: String) async -> TokenError? {
        let dialect = gate.known.dialect ?? assumedDialect
        do throws(TokenError) {
            let time = environment.clock.tokenTime
            let token = try await token(for: account, dialect: dialect, purpose: .poll, at: time)
            if token == nil, kind.needsToken { throw .notConfigured }
            return nil
        } catch {
            environment.logger.log(
                .tokenUnavailable,
                [
                    .runID: "\(runID)", .error: "\(error.description)", .reason: "\(error.cause.rawValue)",
                    .identity: "\(account.rawValue)",
                ]
            )
            return error
        }
    }

    private func token(
        for account: DID,
        dialect: Dialect,
        purpose: TokenPurpose,
        at time: Timestamp
    ) async throws(TokenError) -> AccessToken? {
        let clock = environment.clock
        if !clock.isConfirmed {
            hasUnmeasuredToken.store(true, ordering: .relaxed)
        } else if hasUnmeasuredToken.exchange(false, ordering: .relaxed),
            !(.seconds(-1)...(.seconds(1))).contains(clock.now - environment.time.now)
        {
            // Its times are as wrong as the local clock. A server can tolerate them, and a stricter one would not.
            await tokens.forget()
        }
        return try await tokens.token(
            for: account,
            dialect: dialect,
            purpose: purpose,
            serverTime: time
        )
    }

    // MARK: - Metrics

    /// Counts and logs the steps of a call.
    private struct Observer<Answer: Sendable>: RequestObserver {
        let call: Call<Answer>
        let api: EndorserAPI
        let otherClock: OtherClock

        /// The shortest wait that a person should know of.
        private var longWait: Duration { .seconds(60) }

        private var metrics: AgentMetrics { api.environment.metrics }
        private var now: Timestamp { api.environment.time.now }
        private var exemplar: Exemplar? { Exemplar(runID: call.runID, atMilliseconds: now.milliseconds) }

        func throttled(by source: ThrottleSource, for wait: Duration) {
            metrics.api.throttled[call.endpoint, source].increment()
            metrics.api.throttleWait[source].observe(wait)
        }

        func turnCame() {
            if let poll = call.poll { api.progress?.mark(.poll(poll), at: api.environment.time.monotonic) }
        }

        func tried(_ report: RequestReport, _ attempt: RequestAttempt) {
            // The parts are reached through a class: a copy of all metrics of requests would be 14 references.
            let (metrics, now) = (metrics, now)
            let exemplar = Exemplar(runID: call.runID, requestID: attempt.requestID, atMilliseconds: now.milliseconds)
            metrics.api.requests[call.endpoint, report.result].increment(exemplar: exemplar)
            metrics.api.latency[call.endpoint].observe(report.duration, exemplar: exemplar)
            metrics.api.longest.observe(report.duration)
            metrics.api.sentBytes[call.endpoint].increment(by: UInt64(report.sentBytes))
            metrics.api.receivedBytes[call.endpoint].increment(by: UInt64(report.receivedBytes))
            metrics.api.rate[call.endpoint]?.record(atMilliseconds: now.milliseconds)
            for phase in RequestPhase.allCases {
                let duration = report.measurements[phase]
                if duration > .zero { metrics.api.phases[phase].observe(duration) }
            }
        }

        func failed(_ failure: APIFailure, _ attempt: RequestAttempt, _ report: RequestReport) async {
            // Also after the last attempt, so that the next call does not begin with the same token.
            if failure.failureClass == .unauthenticated, let token = attempt.token {
                await api.tokens.refuse(token, for: call.purpose)
                if api.tokens.areMinted { otherClock.change(api.environment, said: failure.serverTime) }
            }
            self.report(failure)
            let trace = RequestTrace(id: attempt.requestID, serverID: report.serverRequestID)
            api.environment.logger.log(
                .apiFailure,
                [
                    .runID: "\(call.runID)", .endpoint: "\(call.endpoint.rawValue)",
                    .result: "\(failure.result.rawValue)", .attempt: .number(attempt.number),
                    .error: "\(failure.reason)",
                ].merging(failure.cause.fields) { $1 }.merging(AgentEvent.fields(of: trace)) { $1 }
            )
        }

        /// Logs a long wait, once: no request is sent before its end.
        private func report(_ failure: APIFailure) {
            guard let asked = failure.retryAfter, asked >= longWait else { return }
            api.environment.logger.log(
                asked > RetryPolicy.longestServerWait ? .serverWaitCapped : .serverWait,
                [
                    .runID: "\(call.runID)", .endpoint: "\(call.endpoint.rawValue)",
                    .sizeMilliseconds: .number(asked.wholeMilliseconds),
                ]
            )
        }

        func retrying(because reason: RetryReason, after delay: Duration?) {
            metrics.api.retries[call.endpoint, reason].increment(exemplar: exemplar)
            if let delay { metrics.api.retryDelay.observe(delay) }
        }

        func exhausted(because reason: RetryReason) {
            metrics.api.retriesExhausted[call.endpoint, reason].increment(exemplar: exemplar)
        }
    }
}

extension EndorserAPI.Call {
    fileprivate func request(
        _ attempt: RequestAttempt,
        traceHeaders: [(name: String, value: String)]
    ) -> EndorserRequest {
        EndorserRequest(
            endpoint: endpoint,
            method: method,
            query: query,
            body: body,
            token: attempt.token,
            requestID: attempt.requestID,
            idempotencyKey: idempotencyKey,
            traceHeaders: traceHeaders
        )
    }
}

extension TraceSpan {
    fileprivate func describe<Answer>(
        _ report: RequestReport,
        of call: EndorserAPI.Call<Answer>,
        _ attempt: RequestAttempt
    ) {
        set(.endpoint, call.endpoint)
        set(.runID, run: call.runID)
        set(.attempt, attempt.number)
        if let status = report.status { set(.status, status) }
        switch report.result {
        case .ok, .notModified: set(.outcome, report.result)
        default: fail(report.result)
        }
    }
}
