import Glibc
import StarwatchCore
import StarwatchTransport
import Synchronization

/// A running agent behind its control socket. Every call opens a new connection.
///
/// A call that takes longer than the verb's patience fails. The agent can still finish it.
package struct ControlClient: AgentControl {
    package let socketPath: String
    /// The longest wait for an answer; `nil` for the verb's own.
    private let timeout: Duration?
    private let http: Result<HTTPClient, APIFailure>
    /// The one of many accounts that the calls are about; `nil`: none, or the active identity.
    package var account: DID?

    /// The longest silence of the feed's stream, three heartbeats.
    private static let longestSilence = Duration.seconds(45)

    /// The largest answer taken; an outbox of 10,000 rows is below 4 MiB.
    private static let answerLimitBytes = 64 * 1_048_576

    package init(socketPath: String, timeout: Duration? = nil) {
        (self.socketPath, self.timeout) = (socketPath, timeout)
        let time = SystemClock()
        var options = HTTPClientOptions(socketPath: socketPath)
        options.keepsConnections = false
        options.acceptsPeer = { FileAccess.accepts($0, caller: geteuid(), folder: FileAccess(folderOf: socketPath)) }
        do throws(APIFailure) {
            let client = try HTTPClient(options: options, time: time)
            http = .success(client)
        } catch {
            http = .failure(error)
        }
    }

    package func perform<Input, Answer>(
        _ verb: Verb<Input, Answer>,
        _ input: Input
    ) async throws(ControlError) -> Answer {
        guard let parts = try? verb.form.write(input) else { throw .unintelligible }
        let limit = timeout ?? verb.patience
        // A long wait must not hide an agent that is stopped. Who gives a time wants to wait for it.
        if timeout == nil, limit > .usual { try await probe() }
        var request = request(verb.httpMethod, parts.target(verb.path))
        request.timeout = limit
        if !parts.body.isEmpty {
            request.headers.append(("Content-Type", "application/json"))
            request.body = parts.body
        }
        let response = try response(of: await client().exchange(request), within: limit, isRead: verb.reads)
        guard let value = try? ControlJSON.decode(Answer.self, from: response.body) else { throw .unintelligible }
        return value
    }

    /// Finds out whether the agent answers at all, whatever it answers.
    private func probe() async throws(ControlError) {
        var request = request(.get, "/-/healthy")
        request.timeout = .usual
        let exchange = try await client().exchange(request)
        if case .failure = exchange.result {
            _ = try response(of: exchange, within: .usual, isRead: true)
        }
    }

    /// Calls `body` with every event of the feed as it arrives, and returns when the agent ends the stream. An agent that
    /// is silent for too long is one that does not answer.
    ///
    /// Events that arrive faster than `body` takes them wait in memory. The agent keeps a limited number of them.
    ///
    /// - Parameter sequence: The sequence of the last event before; `nil` for new events only.
    package func followFeed(after sequence: Int64?, _ body: (FeedEvent) async -> Void) async throws(ControlError) {
        let (pieces, arrival) = AsyncStream.makeStream(of: [UInt8].self)
        var request = request(.get, "/api/v1/notifications/events")
        request.headers[0] = ("Accept", "text/event-stream")
        if let sequence { request.headers.append(("Last-Event-ID", String(sequence))) }
        let (first, later) = (
            timeout ?? ControlAPI.listNotifications.patience, max(timeout ?? .zero, Self.longestSilence)
        )
        let silence = Silence(limit: first)
        request.onBody = { piece in
            silence.end(next: later)
            arrival.yield(piece)
        }
        let client = try client()
        async let _: Void = {
            if await silence.isTooLong() { arrival.finish() }
        }()
        async let end = {
            let exchange = await client.exchange(request)
            arrival.finish()
            return exchange
        }()
        var parser = FeedEventParser()
        for await piece in pieces {
            guard let events = parser.take(piece) else { throw .unintelligible }
            for event in events { await body(event) }
        }
        if let limit = silence.exceeded { throw .timedOut(socketPath, limit, isRead: true) }
        _ = try response(of: await end, within: later, isRead: true)
    }

    private func client() throws(ControlError) -> HTTPClient {
        do throws(APIFailure) { return try http.get() } catch { throw ControlError(.failed, error.reason) }
    }

    private func request(_ method: HTTPRequest.Method, _ target: String) -> HTTPRequest {
        HTTPRequest(
            method: method,
            url: "http://localhost" + target,
            headers: [("Accept", "application/json"), ("Connection", "close")]
                + (account.map { [(ControlAPI.accountHeader, $0.rawValue)] } ?? []),
            timeout: nil,
            maxResponseBytes: Self.answerLimitBytes
        )
    }

    /// The agent's answer with status 200.
    ///
    /// - Throws: The agent's own error for every other status, or the reason why there is no answer.
    private func response(
        of exchange: HTTPExchange,
        within limit: Duration,
        isRead: Bool
    ) throws(ControlError) -> HTTPResponse {
        switch exchange.result {
        case .success(let response) where response.status == 200: return response
        case .success(let response): throw Self.refusal(response.body)
        case .failure(.connect):
            // The queue of a stopped agent is full. libcurl waits for such a connection, and then knows no error of it.
            guard let code = exchange.connectErrno, code != EAGAIN else {
                throw .timedOut(socketPath, nil, isRead: true)
            }
            // Whether an agent listens is unknown then, and its database is closed to this user too.
            throw code == EACCES ? .denied(socketPath) : .unreachable(socketPath, ErrnoText.of(code))
        // libcurl reports a path that is too long as a name that does not resolve.
        case .failure(.dns): throw .unreachable(socketPath, "not a usable path")
        case .failure(.peer): throw .stranger(socketPath)
        case .failure(.cancelled): throw .cancelled
        case .failure(.malformed), .failure(.tooLarge): throw .unintelligible
        case .failure(.timeout): throw .timedOut(socketPath, limit, isRead: isRead)
        case .failure(let error) where error.failureClass == .network: throw .hungUp
        case .failure: throw ControlError(.failed, "The request cannot be sent; please report this.")
        }
    }

    private static func refusal(_ body: [UInt8]) -> ControlError {
        guard let error = try? ControlJSON.decode(ControlErrorBody.self, from: body).error else {
            return .unintelligible
        }
        // Only the client itself finds that it reaches no agent.
        return ControlError(ControlError.Kind.answered.first { $0.rawValue == error.kind } ?? .failed, error.message)
    }
}

/// The time since the last piece of a stream.
private final class Silence: Sendable {
    private let state: Mutex<(limit: Duration, end: ContinuousClock.Instant, exceeded: Duration?)>

    init(limit: Duration) { state = Mutex((limit: limit, end: .now + limit, exceeded: nil)) }

    /// The limit that was exceeded; `nil` while none was.
    var exceeded: Duration? { state.withLock(\.exceeded) }

    /// Ends the silence. The next one can last for `limit`.
    func end(next limit: Duration) { state.withLock { ($0.limit, $0.end) = (limit, .now + limit) } }

    /// Waits until a silence is too long; `false` if the task was cancelled.
    func isTooLong() async -> Bool {
        while true {
            let end = state.withLock { state in
                if state.end <= .now { state.exceeded = state.limit }
                return state.exceeded == nil ? state.end : nil
            }
            guard let end else { return true }
            guard (try? await Task.sleep(until: end, clock: .continuous)) != nil else { return false }
        }
    }
}

extension ControlRequest {
    /// The path with the arguments in place of its parts in braces, and the query.
    package func target(_ path: String) -> String {
        var arguments = arguments[...]
        let parts = path.split(separator: "/").map { part in
            part.hasPrefix("{") ? PercentEncoding.encode(arguments.removeFirst()) : String(part)
        }
        let pairs = query.map { "\($0.name)=\(PercentEncoding.encode($0.value))" }
        return "/" + parts.joined(separator: "/") + (pairs.isEmpty ? "" : "?" + pairs.joined(separator: "&"))
    }
}

extension ControlError {
    static func unreachable(_ path: String, _ detail: String) -> ControlError {
        // systemd makes this folder for the package's service, whose files an agent of another user would take.
        let start = path.hasPrefix("/run/starwatch/") ? "systemctl start starwatch" : "starwatch run"
        return ControlError(
            .unreachable,
            "No agent can be reached at \(path) (\(detail)); start one with \"\(start)\", or name its --socket."
        )
    }

    static func denied(_ path: String) -> ControlError {
        ControlError(.failed, "This user cannot use the agent's socket \(path); run the command with sudo.")
    }

    static func stranger(_ path: String) -> ControlError {
        ControlError(
            .failed,
            "Another user's program listens on \(path); run the command as that user, or name the agent's --socket."
        )
    }

    /// - Parameters:
    ///   - limit: The time waited; `nil` if the agent took no connection.
    ///   - isRead: `false` if the agent can still do what it was asked for.
    static func timedOut(_ path: String, _ limit: Duration?, isRead: Bool) -> ControlError {
        let what = limit.map { "did not answer within \(DurationText.format($0))" } ?? "takes no more connections"
        return ControlError(
            .timedOut,
            "The agent at \(path) \(what); it may be stopped or overloaded. See its log, continue or restart it, or wait "
                + "longer with --timeout." + (isRead ? "" : " It can still do what it was asked for.")
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
