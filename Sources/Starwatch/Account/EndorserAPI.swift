import Logging
package import StarwatchCore
package import StarwatchPolling
import StarwatchStore
import StarwatchTelemetry
package import StarwatchTransport

/// Client of the account's Endorser server. It adds tokens and metrics, and sends each request through the server's
/// gate.
package final class EndorserAPI: Sendable {
    /// A call, including all its tokens and tries.
    package struct Call: Sendable {
        package var endpoint: Endpoint
        package var method: HTTPRequest.Method
        package var query: [(String, String)] = []
        package var body: [UInt8]?
        package var account: DID
        package var purpose: TokenPurpose
        package var runID: String
        /// The poll of the cycle that the call belongs to.
        package var poll: PollName?
        /// Idempotency key, the same for every try; `nil` for GET.
        package var idempotencyKey: String?
        /// Number of acknowledged identifiers, which have their own limit.
        package var identifiers = 0
        package var retries = RequestJob.Retries.policy(nil)
    }

    package let client: EndorserClient
    package let gate: Gate
    package let tokens: any TokenProvider
    /// Token dialect for a server that has not responded yet.
    package let assumedDialect: Dialect
    package let requester: Requester
    let environment: Environment
    private let lastToken = LastToken()
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
        self.client = client
        self.gate = gate
        self.tokens = tokens
        self.assumedDialect = assumedDialect
        self.requester = requester
        self.environment = environment
        self.progress = progress
    }

    /// Adjusts every wait if the local clock was set since the last call.
    package func followClock() async { await requester.gates.followClock() }

    /// Sends a call until it gets a response or is given up.
    package func send(_ call: Call, dialect: Dialect) async -> RequestEnd {
        var job = RequestJob(
            account: call.account,
            observer: Observer(call: call, api: self),
            token: { _ in try await self.token(for: call.account, dialect: dialect, purpose: call.purpose) },
            send: { await self.send(call, $0) }
        )
        job.identifiers = call.identifiers
        job.retries = call.retries
        return await requester.send(job, through: gate).end
    }

    private func send(_ call: Call, _ attempt: RequestJob.Try) async -> Exchange {
        await Trace.span(.request) { span in
            var request = EndorserRequest(
                endpoint: call.endpoint,
                method: call.method,
                query: call.query,
                body: call.body,
                token: attempt.token,
                idempotencyKey: call.idempotencyKey,
                traceHeaders: span == nil ? [] : Trace.headers
            )
            request.requestID = attempt.requestID
            let exchange = await client.send(request)
            guard let span else { return exchange }
            span.set(.endpoint, call.endpoint)
            span.set(.runID, run: call.runID)
            span.set(.attempt, attempt.number)
            if let status = exchange.report.status { span.set(.status, status) }
            switch exchange.outcome {
            case .success: span.set(.outcome, exchange.report.result)
            case .failure: span.fail(exchange.report.result)
            }
            return exchange
        }
    }

    // MARK: - Tokens

    /// Returns `nil` if `account` has a token now, or needs none; otherwise the error. Sends no request to the server.
    package func tokenError(for account: DID) async -> TokenError? {
        let dialect = await gate.dialect ?? assumedDialect
        do {
            _ = try await token(for: account, dialect: dialect, purpose: .poll)
            return nil
        } catch {
            environment.logger.log(
                .tokenUnavailable,
                [.error: "\(error.description)", .reason: "\(error.cause.rawValue)"]
            )
            return error
        }
    }

    private func token(
        for account: DID,
        dialect: Dialect,
        purpose: TokenPurpose
    ) async throws(TokenError) -> AccessToken? {
        let refreshes = environment.metrics.clock.tokenRefreshes
        do {
            let token = try await tokens.token(
                for: account,
                dialect: dialect,
                purpose: purpose,
                serverTime: environment.clock.now
            )
            if let token, lastToken.replace(with: token) { refreshes[.ok].increment() }
            return token
        } catch {
            refreshes[.failed].increment()
            throw error
        }
    }

    // MARK: - Metrics

    /// Counts and logs the steps of a call.
    private struct Observer: RequestObserver {
        let call: Call
        let api: EndorserAPI

        private var metrics: APIMetrics { api.environment.metrics.api }
        private var now: Timestamp { api.environment.time.now }
        private var exemplar: Exemplar? { Exemplar(runID: call.runID, atMilliseconds: now.milliseconds) }

        func throttled(by source: ThrottleSource, for wait: Duration) {
            metrics.throttled[call.endpoint, source].increment()
            metrics.throttleWait[source].observe(wait)
        }

        func turnCame() {
            if let poll = call.poll { api.progress?.mark(.poll(poll), at: api.environment.time.monotonic) }
        }

        func tried(_ exchange: Exchange) async {
            let report = exchange.report
            let exemplar = exemplar
            metrics.requests[call.endpoint, report.result].increment(exemplar: exemplar)
            metrics.latency[call.endpoint].observe(report.duration, exemplar: exemplar)
            metrics.sentBytes[call.endpoint].increment(by: UInt64(report.sentBytes))
            metrics.receivedBytes[call.endpoint].increment(by: UInt64(report.receivedBytes))
            metrics.rate.record(atMilliseconds: now.milliseconds)
            for phase in RequestPhase.allCases {
                let duration = report.measurements[phase]
                if duration > .zero { metrics.phases[phase].observe(duration) }
            }
        }

        func failed(_ failure: APIFailure, try number: Int, token: AccessToken?) async {
            if failure.failureClass == .unauthenticated, let token { await api.tokens.refuse(token) }
            api.environment.logger.log(
                .apiFailure,
                [
                    .runID: "\(call.runID)", .endpoint: "\(call.endpoint.rawValue)",
                    .result: "\(failure.result.rawValue)", .attempt: .number(number), .error: "\(failure.reason)",
                ].merging(failure.cause.fields) { $1 }
            )
        }

        func retrying(because reason: RetryReason, after delay: Duration?) {
            metrics.retries[call.endpoint, reason].increment(exemplar: exemplar)
            if let delay { metrics.retryDelay[reason].observe(delay) }
        }

        func exhausted(because reason: RetryReason) {
            metrics.retriesExhausted[call.endpoint, reason].increment(exemplar: exemplar)
        }
    }
}
