import StarwatchCore
import StarwatchTransport
import Synchronization

/// Sends a host application's request until it succeeds or finally fails.
struct HostRequester: Sendable {
    /// Outcome of a request, shared by all tasks that made the same one.
    struct Answer: Sendable {
        var result: Result<HTTPResponse, PollError>
        var requestID = ""
        var retryCount = 0
    }

    let http: any HTTPTransport
    let client: ClientNames
    let observer: any HostPollObserver
    let requester: Requester

    private var time: any TimeSource { requester.time }

    func send(_ request: PreparedRequest) async -> Answer {
        let gate = requester.gates.gate(to: request.origin)
        await requester.gates.followClock()
        guard await gate.begin(now: time.now) else {
            var error = PollError(
                .circuitOpen,
                "The server failed so often that no request is sent to it for a while.",
                isRetryable: true
            )
            error.retryAfter = await gate.circuit.nextTry.map { max(.zero, $0 - time.now) }
            return Answer(result: .failure(error))
        }
        let answer = Mutex<HTTPResponse?>(nil)
        let end = await requester.perform(terms(of: request, through: gate), through: gate) { [http, client] attempt in
            let message = request.httpRequest(attempt, from: client)
            return await attempt.read(await http.exchange(message)) { response, _ in
                if response.status == 304, request.validator == nil { return Self.unexpectedNotModified }
                answer.withLock { $0 = response }
                return nil
            }
        }
        await requester.gates.followClock()
        await gate.end(end.failure?.circuitFailure, now: time.now)
        return Answer(
            result: end.failure.map { .failure(error(of: $0)) } ?? .success(answer.withLock { $0! }),
            requestID: end.requestID,
            retryCount: max(0, end.tries - 1)
        )
    }

    private func terms(of request: PreparedRequest, through gate: Gate) -> RequestTerms {
        var terms = RequestTerms(account: request.account, observer: observer) { [time] refused in
            guard let tokens = request.tokens else { return nil }
            let now = gate.clock?.now ?? time.now
            let token = try await tokens.token(request.account, refused, now)
            guard token != nil || request.mayGoWithoutToken else { throw NoToken() }
            return token
        }
        terms.retries = .policy(request.retry)
        return terms
    }

    private struct NoToken: Error {}

    private func error(of failure: RequestFailure) -> PollError {
        switch failure {
        case .failed(let failure): return PollError(failure)
        case .deferred(let until, let failure?):
            var error = PollError(failure)
            error.retryAfter = until - time.now
            return error
        case .deferred(let until, nil):
            return PollError(
                .rateLimitExceeded,
                "The server, or our own limit, asks for a longer wait than is sat out.",
                isRetryable: true,
                retryAfter: until - time.now
            )
        case .unstored(let error): return PollError(error)
        case .noToken(let error):
            var failure = PollError(
                .noToken,
                (error as? TokenError)?.description ?? "There is no token to send.",
                isRetryable: false
            )
            if !(error is NoToken) { failure.underlying = error }
            return failure
        }
    }

    private static let unexpectedNotModified = APIFailure(
        result: .malformed,
        failureClass: .malformed,
        status: 304,
        reason: "The server answered \"not modified\" (304) to a request that was not conditional."
    )
}
