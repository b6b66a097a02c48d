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
    package let client: EndorserClient
    package let gate: Gate
    package let tokens: any TokenProvider
    /// Token dialect for a server that has not responded yet.
    package let assumedDialect: Dialect
    package let requester: Requester
    package let environment: Environment
    /// The account as a sender at the gate; `nil` before its first request. After its end none stays there.
    private let state = Mutex<(sender: Sender?, hasEnded: Bool)>((nil, false))
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
    ///
    /// - Returns: The time.
    @discardableResult
    package func followClock() async -> Timestamp { await requester.gates.followClock() }

    /// Makes a request until it gets an answer or is given up.
    ///
    /// - Parameter read: Returns the content of a 2xx or 304 response, or the failure that it is. `askedAt` is the server's time
    ///   of the request, as far as it is known. Called once for each attempt, for a long answer on the runtime's threads.
    /// - Returns: The answer, and the end of the request.
    package func answer<Answer: Sendable>(
        to request: EndorserRequest,
        dialect: Dialect,
        _ read: @escaping @Sendable (HTTPResponse, _ askedAt: Timestamp) -> Result<Answer, APIFailure>
    ) async -> (Result<Answer, RequestFailure>, end: RequestEnd) {
        guard Offload.isChosen else {
            return await Offload.run { await self.answer(to: request, dialect: dialect, read) }
        }
        let maker = Maker(request, dialect, self)
        // The refused token is not needed: the maker has reported it.
        var token: OpenRequest.TokenSource?
        if request.account != nil, !tokens.isAnonymous { token = { _ in try await maker.token() } }
        // A cycle enters nothing: an asynchronous call that does nothing takes hundreds of instructions.
        let sender: Sender
        if let known = known(request.account) { sender = known } else { sender = await enter(request.account) }
        var open = OpenRequest(of: sender, through: gate, by: requester, observer: maker, token: token)
        (open.identifiers, open.retries) = (request.identifiers, request.retries)
        var answer: Answer?
        while await open.next() {
            let failure: APIFailure? = await Trace.span(.request) { span in
                let exchange = await client.send(
                    request,
                    token: open.token,
                    id: open.end.requestID,
                    traceHeaders: span == nil ? [] : Trace.headers
                )
                let askedAt = open.receive(exchange)
                var failure: APIFailure?
                switch await exchange.read({ read($0, askedAt) }) {
                case .success(let content): answer = content
                case .failure(let reason): failure = reason
                }
                span?.describe(exchange, failure, of: request, try: open.end.tries)
                return failure
            }
            await open.end(with: failure)
        }
        if !sender.leaveOthers() { await gate.leave(sender, now: environment.time.now) }
        maker.ended(open.end)
        return (open.end.failure.map(Result.failure) ?? .success(answer!), open.end)
    }

    // MARK: - Memory

    /// The sender for a request of an account, if others were before it. The request leaves.
    private func known(_ account: DID?) -> Sender? {
        state.withLock { state in
            guard let sender = state.sender, sender.account == account else { return nil }
            // Within the lock, so that the account has not left.
            return sender.joined()
        }
    }

    /// Enters an account at the gate for a request, which leaves. The account stays there for the next ones, in place of the identity
    /// before it, unless it has ended.
    ///
    /// - Parameter isFirst: `true` if it stays only if no other one does.
    private func enter(_ account: DID?, isFirst: Bool = false) async -> Sender {
        let next = await gate.enter(account)
        let former = state.withLock { state -> Sender? in
            let former = state.sender
            guard account != nil, !state.hasEnded, former == nil || former?.account != account && !isFirst else {
                return nil
            }
            state.sender = next.joined()
            return former
        }
        if let former { await gate.leave(former, now: environment.time.now) }
        return next
    }

    /// Keeps an account at the gate for requests of a host program, so that they are not read and stored each time. The account that
    /// the agent works for goes first.
    func stay(_ account: DID) async {
        guard state.withLock({ $0.sender == nil }) else { return }
        await gate.leave(enter(account, isFirst: true), now: environment.time.now)
    }

    /// Leaves the account, which rests or is not the identity any more. Requests under way stay at the gate until their end.
    ///
    /// - Parameter isEnd: Whether nobody uses this object any more, but for requests that come too late.
    func leave(isEnd: Bool = false) async {
        let former = state.withLock { state in
            defer { state = (nil, state.hasEnded || isEnd) }
            return state.sender
        }
        if let former { await gate.leave(former, now: environment.time.now) }
    }

    /// Ends the visit of an account: what it sent is stored with the end of its lease.
    ///
    /// - Parameter isInterrupted: Whether the account's last visit did not end.
    func endVisit(of account: DID, isInterrupted: Bool) async {
        var sender = known(account)
        if sender == nil, isInterrupted { sender = await enter(account) }
        guard let sender else { return }
        await sender.endVisit(isInterrupted: isInterrupted, now: environment.time.now)
        if !sender.leaveOthers() { await gate.leave(sender, now: environment.time.now) }
    }

    // MARK: - Tokens

    /// Returns `nil` if `account` has a token now, or if there are no tokens and polls of `kind` need none; otherwise the
    /// error. Sends no request to the server.
    ///
    /// - Parameter runID: The cycle that needs it.
    package func tokenError(for account: DID, kind: PollKind, runID: String) async -> TokenError? {
        let dialect = gate.known.dialect ?? assumedDialect
        do throws(TokenError) {
            let token =
                tokens.isAnonymous
                ? nil
                : try await token(for: account, dialect: dialect, purpose: .poll, at: environment.clock.tokenTime)
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
}

extension EndorserAPI {
    /// The maker of one request: gives it tokens, and counts and logs its steps.
    private final class Maker: RequestObserver {
        /// The shortest wait that a person should know of.
        private static let longWait = Duration.seconds(60)

        private let request: EndorserRequest
        private let dialect: Dialect
        private let api: EndorserAPI
        /// The clocks by which tokens are minted, as offsets from the local one: that of the last token, and another one, for
        /// one more try after the server refused a token.
        private let clocks = Mutex<(used: Duration, other: Duration?)>((.zero, nil))

        init(_ request: EndorserRequest, _ dialect: Dialect, _ api: EndorserAPI) {
            (self.request, self.dialect, self.api) = (request, dialect, api)
        }

        private var environment: Environment { api.environment }
        private var metrics: AgentMetrics { environment.metrics }
        private var now: Timestamp { environment.time.now }
        private var exemplar: Exemplar? { Exemplar(runID: request.runID, atMilliseconds: now.milliseconds) }

        func token() async throws(TokenError) -> AccessToken? {
            guard let account = request.account else { return nil }
            let now = now
            let time = clocks.withLock { clocks in
                clocks.used = clocks.other ?? environment.clock.tokenTime - now
                return now + clocks.used
            }
            return try await api.token(for: account, dialect: dialect, purpose: request.purpose, at: time)
        }

        /// Keeps the other clock if the server took the token by it.
        func ended(_ end: RequestEnd) {
            guard let offset = clocks.withLock({ $0.other }) else { return }
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

        func throttled(by source: ThrottleSource, for wait: Duration) {
            metrics.api.throttled[request.endpoint, source].increment()
            metrics.api.throttleWait[source].observe(wait)
        }

        func turnCame() {
            if let poll = request.poll { api.progress?.mark(.poll(poll), at: environment.time.monotonic) }
        }

        func tried(_ open: borrowing OpenRequest) {
            guard let measured = open.exchange?.measurements else { return }
            // The parts are reached through a class: a copy of all metrics of requests would be 14 references.
            let (metrics, now, endpoint) = (metrics, now, request.endpoint)
            let exemplar = Exemplar(
                runID: request.runID,
                requestID: open.end.requestID,
                atMilliseconds: now.milliseconds
            )
            metrics.api.requests[endpoint, open.result].increment(exemplar: exemplar)
            metrics.api.latency[endpoint].observe(measured.total, exemplar: exemplar)
            metrics.api.note(requestOf: measured.total)
            metrics.api.sentBytes[endpoint].increment(by: UInt64(measured.sentBytes))
            metrics.api.receivedBytes[endpoint].increment(by: UInt64(measured.receivedBytes))
            if endpoint == AgentMetrics.contractEndpoint { metrics.api.rate.record(atMilliseconds: now.milliseconds) }
            for phase in RequestPhase.allCases {
                let duration = measured[phase]
                if duration > .zero { metrics.api.phases[phase].observe(duration) }
            }
        }

        func failed(_ failure: APIFailure, _ open: borrowing OpenRequest) async {
            // Also after the last attempt, so that the next request does not begin with the same token.
            if failure.failureClass == .unauthenticated, let token = open.token {
                await api.tokens.refuse(token, for: request.purpose)
                if api.tokens.areMinted { changeClock(said: failure.serverTime) }
            }
            report(failure)
            environment.logger.log(
                .apiFailure,
                [
                    .runID: "\(request.runID)", .endpoint: "\(request.endpoint.rawValue)",
                    .result: "\(failure.result.rawValue)", .attempt: .number(open.end.tries),
                    .error: "\(failure.reason)",
                ].merging(failure.cause.fields) { $1 }.merging(AgentEvent.fields(of: open.end.trace)) { $1 }
            )
        }

        /// Chooses another clock after a refusal.
        private func changeClock(said: Timestamp?) {
            clocks.withLock { clocks in
                clocks.other = clocks.other ?? environment.clock.otherTokenOffset(than: clocks.used, said: said)
            }
        }

        /// Logs a long wait, once: no request is sent before its end.
        private func report(_ failure: APIFailure) {
            guard let asked = failure.retryAfter, asked >= Self.longWait else { return }
            environment.logger.log(
                asked > RetryPolicy.longestServerWait ? .serverWaitCapped : .serverWait,
                [
                    .runID: "\(request.runID)", .endpoint: "\(request.endpoint.rawValue)",
                    .sizeMilliseconds: .number(asked.wholeMilliseconds),
                ]
            )
        }

        func retrying(because reason: RetryReason, after delay: Duration?) {
            metrics.api.retries[request.endpoint, reason].increment(exemplar: exemplar)
            if let delay { metrics.api.retryDelay.observe(delay) }
        }

        func exhausted(because reason: RetryReason) {
            metrics.api.retriesExhausted[request.endpoint, reason].increment(exemplar: exemplar)
        }
    }
}

extension TraceSpan {
    fileprivate func describe(
        _ exchange: HTTPExchange,
        _ failure: APIFailure?,
        of request: EndorserRequest,
        try number: Int
    ) {
        set(.endpoint, request.endpoint)
        set(.runID, run: request.runID)
        set(.attempt, number)
        if let status = exchange.response?.status { set(.status, status) }
        let result = exchange.result(failure)
        switch result {
        case .ok, .notModified: set(.outcome, result)
        default: fail(result)
        }
    }
}
