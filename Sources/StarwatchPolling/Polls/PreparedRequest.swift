import StarwatchCore
import StarwatchStore
import StarwatchTransport
import Synchronization

/// A fully resolved request: its content on the wire, apart from the token and the attempt.
struct PreparedRequest: Sendable {
    /// The request with the host's headers, by name.
    var message: HTTPRequest
    /// Scheme, host and port.
    var origin: String
    var account: DID?
    /// Source of tokens; `nil` if the request carries none.
    var tokens: PollTokens.Source?
    var mayGoWithoutToken: Bool
    var idempotencyKey: String?
    var validator: StoredValidator?
    var retry: RetryPolicy?

    /// The parts that identical requests share.
    ///
    /// A generated idempotency key is not one of them: concurrent identical requests can share an answer.
    struct Identity: Hashable, Sendable {
        let account: DID?
        fileprivate let head: [String]
        fileprivate let body: [UInt8]?
        fileprivate let tokens: ObjectIdentifier?
        fileprivate let mayGoWithoutToken: Bool
        fileprivate let validator: StoredValidator?
        fileprivate let retry: RetryPolicy?
        fileprivate let timeout: Duration?
        fileprivate let maxResponseBytes: Int
    }

    func identity(idempotencyKey: String?) -> Identity {
        Identity(
            account: account,
            head: [message.method.rawValue, message.url, idempotencyKey ?? ""]
                + message.headers.flatMap { [$0.name.lowercased(), $0.value] },
            body: message.body,
            tokens: tokens.map(ObjectIdentifier.init),
            mayGoWithoutToken: mayGoWithoutToken,
            validator: validator,
            retry: retry,
            timeout: message.timeout,
            maxResponseBytes: message.maxResponseBytes
        )
    }

    /// One attempt.
    func httpRequest(token: AccessToken?, id: String, from client: ClientNames) -> HTTPRequest {
        var added: [(name: String, value: String)] = [
            ("Accept", "application/json"), ("X-Request-ID", id),
            ("X-Client-Version", client.clientVersion), ("User-Agent", client.userAgent),
        ]
        if message.method == .post || message.method == .put { added.append(("Content-Type", "application/json")) }
        // The host's content headers take precedence. The manager sets the headers that identify the client and the
        // attempt.
        let preferred: Set = ["accept", "content-type", "user-agent"]
        let names = Set(message.headers.map { $0.name.lowercased() })
        added.removeAll { preferred.contains($0.name.lowercased()) && names.contains($0.name.lowercased()) }
        if let token { added.append(("Authorization", "Bearer " + token.rawValue)) }
        if let idempotencyKey { added.append(("X-Idempotency-Key", idempotencyKey)) }
        if let etag = validator?.etag { added.append(("If-None-Match", etag)) }
        if let date = validator?.lastModified { added.append(("If-Modified-Since", date)) }
        let ours = Set(added.map { $0.name.lowercased() })
        var message = message
        message.headers = message.headers.filter { !ours.contains($0.name.lowercased()) } + added
        return message
    }
}

/// Validators of the last answers to one-time requests, by account, server and endpoint.
final class ValidatorBook: Sendable {
    /// Maximum number of validators. Beyond it, the oldest is dropped.
    private static let limit = 256

    private let state = Mutex<(validators: [[String?]: StoredValidator], order: [[String?]])>(([:], []))

    subscript(context: PollingContext, endpoint: String) -> StoredValidator? {
        get { state.withLock { $0.validators[[context.account?.rawValue, context.server, endpoint]] } }
        set {
            let key = [context.account?.rawValue, context.server, endpoint]
            state.withLock { state in
                if state.validators[key] == nil { state.order.append(key) }
                state.validators[key] = newValue
                if state.order.count > Self.limit { state.validators[state.order.removeFirst()] = nil }
            }
        }
    }
}
