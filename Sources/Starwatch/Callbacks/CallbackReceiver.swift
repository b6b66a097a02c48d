package import StarwatchCore
import StarwatchPolling
import StarwatchStore
package import StarwatchTransport
import Synchronization

/// A receiver of events, with its own circuit breaker.
package final class CallbackReceiver: Sendable {
    /// Timeout of the whole request, unless its options set a shorter one.
    package static let timeout = Duration.seconds(8)

    let kinds: Set<CallbackKind>
    private let options: FetchOptions
    private let token: SecretFile?
    private let http: any HTTPTransport
    private let circuit = Mutex(CircuitBreaker(policy: .sink))

    package init(kinds: Set<CallbackKind>, options: FetchOptions, token: SecretFile?, http: any HTTPTransport) {
        (self.kinds, self.options, self.token, self.http) = (kinds, options, token, http)
    }

    /// The time before which nothing is sent to it; `nil` if it can receive now.
    func waitUntil(at now: Timestamp) -> Timestamp? {
        circuit.withLock { circuit in
            switch circuit.admit(at: now) {
            case .allowed, .probe: nil
            case .wait(let until): until
            case .probing: now + .seconds(1)
            }
        }
    }

    /// The time of the next attempt after a failure; `nil` if it can receive at any time.
    var nextTry: Timestamp? { circuit.withLock(\.nextTry) }

    /// Sends one event, once.
    func send(_ event: QueuedEvent, time: any TimeSource) async -> SinkResult {
        let result = await post(event, time: time)
        let now = time.now
        circuit.withLock { circuit in
            if Task.isCancelled, result.isNoAnswer {
                _ = circuit.abandoned(at: now)
            } else if result.isNoAnswer {
                _ = circuit.unavailable(at: now)
            } else {
                _ = circuit.succeeded()
            }
        }
        return result
    }

    private func post(_ event: QueuedEvent, time: any TimeSource) async -> SinkResult {
        var fetch = options
        fetch.method = .post
        let bearer: AccessToken?
        do throws(TokenError) {
            bearer = try token.map { file throws(TokenError) in try AccessToken(file: file) }
        } catch {
            return .unavailable(SinkFailure("The callback's token_file cannot be read.", error.cause))
        }
        let exchange = await http.exchange(
            HTTPRequest(
                method: .post,
                url: fetch.url,
                headers: fetch.requestHeaders(token: bearer),
                body: Array(event.payload.utf8),
                timeout: min(fetch.timeout ?? Self.timeout, Self.timeout),
                maxResponseBytes: SinkResult.largestResponseBytes
            )
        )
        return SinkResult(exchange, at: time.now)
    }
}

extension FetchOptions {
    /// The headers of a request to this URL.
    func requestHeaders(token: AccessToken?) -> [(name: String, value: String)] {
        var requestHeaders: [(name: String, value: String)] = [("User-Agent", AgentVersion.userAgent)]
        if body != nil || method == .post { requestHeaders.append(("Content-Type", "application/json")) }
        requestHeaders += headers.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
        if let token { requestHeaders.append(("Authorization", "Bearer " + token.rawValue)) }
        return requestHeaders
    }
}

extension AccessToken {
    /// Reads the token of a `token_file`.
    init(file: SecretFile) throws(TokenError) {
        var file = file
        self.init(rawValue: String(decoding: try file.read(), as: UTF8.self), expiresAt: nil)
    }
}
