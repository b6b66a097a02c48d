import StarwatchCore
import StarwatchTransport

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
        guard Offload.isChosen else { return await Offload.run { await send(request) } }
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
        let sender = await gate.enter(request.account)
        var open = open(request, of: sender, through: gate)
        while await open.next() {
            let message = request.httpRequest(token: open.token, id: open.end.requestID, from: client)
            let exchange = await http.exchange(message)
            _ = open.receive(exchange)
            switch exchange.answer {
            case .success(let response) where response.status == 304 && request.validator == nil:
                await open.end(with: .unexpectedNotModified)
            case .success: await open.end(with: nil)
            case .failure(let failure): await open.end(with: failure)
            }
        }
        await gate.leave(sender, now: time.now)
        await requester.gates.followClock()
        await gate.end(open.end.failure?.circuitFailure, now: time.now)
        return Answer(
            result: open.end.failure.map { .failure(error(of: $0)) } ?? .success(open.exchange!.response!),
            requestID: open.end.requestID,
            retryCount: max(0, open.end.tries - 1)
        )
    }

    private func open(_ request: PreparedRequest, of sender: Sender, through gate: Gate) -> OpenRequest {
        var token: OpenRequest.TokenSource?
        if let tokens = request.tokens {
            token = { [time] refused in
                let now = gate.clock?.now ?? time.now
                let token = try await tokens.token(request.account, refused, now)
                guard token != nil || request.mayGoWithoutToken else { throw NoToken() }
                return token
            }
        }
        var open = OpenRequest(of: sender, through: gate, by: requester, observer: observer, token: token)
        open.retries = .policy(request.retry)
        return open
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
}
