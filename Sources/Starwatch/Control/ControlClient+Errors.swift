import FoundationEssentials
import StarwatchTransport

extension ControlClient {
    /// The agent's answer with status 200.
    ///
    /// - Throws: The agent's own error for every other status, or the reason why there is no answer.
    func response(of exchange: HTTPExchange) throws(ControlError) -> HTTPResponse {
        switch exchange.result {
        case .success(let response) where response.status == 200: return response
        case .success(let response): throw Self.refusal(response.body)
        case .failure(.connect):
            let detail = exchange.connectErrno.map(ErrnoText.of) ?? "no connection"
            throw .unreachable(socketPath, detail)
        // libcurl reports a path that is too long as a name that does not resolve.
        case .failure(.dns): throw .unreachable(socketPath, "not a usable path")
        case .failure(.peer): throw .stranger(socketPath)
        case .failure(.cancelled): throw .cancelled
        case .failure(.malformed), .failure(.tooLarge): throw .unintelligible
        case .failure(.invalidRequest), .failure(.configuration):
            throw ControlError(.failed, "The request cannot be sent; please report this.")
        case .failure(.timeout):
            throw ControlError(.hungUp, "The agent does not answer within 10 s; see its log, or restart it.")
        case .failure(.reset), .failure(.tls): throw .hungUp
        }
    }

    private static func refusal(_ body: [UInt8]) -> ControlError {
        guard let error = try? JSONDecoder().decode(ErrorBody.self, from: Data(body)).error else {
            return .unintelligible
        }
        // Only the client itself finds that it reaches no agent.
        return ControlError(ControlError.Kind.answered.first { $0.rawValue == error.kind } ?? .failed, error.message)
    }
}

extension ControlError {
    static func unreachable(_ path: String, _ detail: String) -> ControlError {
        ControlError(
            .unreachable,
            "No agent can be reached at \(path) (\(detail)); start one with \"starwatch run\", or name its --socket."
        )
    }

    static func stranger(_ path: String) -> ControlError {
        ControlError(
            .failed,
            "Another user's program listens on \(path); run the command as that user, or name the agent's --socket."
        )
    }

    static let hungUp = ControlError(
        .hungUp,
        "The agent closed the connection before it answered; see its log, and try again."
    )

    static let unintelligible = ControlError(
        .unintelligible,
        "What listens on the control socket is not an agent of this version; check --socket."
    )

    package static let cancelled = ControlError(.cancelled, "Interrupted.")
}
