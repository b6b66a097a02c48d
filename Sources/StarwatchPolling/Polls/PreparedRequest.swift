import StarwatchCore
import StarwatchStore
import StarwatchTransport
import Synchronization

/// A fully resolved request: its content on the wire, apart from the token and the attempt.
struct PreparedRequest: Sendable {
    var method: PollMethod
    var url: String
    /// Scheme, host and port.
    var origin: String
    /// The host's, by name.
    var headers: [(name: String, value: String)]
    var body: [UInt8]?
    var account: DID?
    /// Source of tokens; `nil` if the request carries none.
    var tokens: PollTokens.Source?
    var mayGoWithoutToken: Bool
    var idempotencyKey: String?
    var validator: StoredValidator?
    var retry: RetryPolicy?
    var timeout: Duration
    var maxResponseBytes: Int

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
        fileprivate let timeout: Duration
        fileprivate let maxResponseBytes: Int
    }

    func identity(idempotencyKey: String?) -> Identity {
        Identity(
            account: account,
            head: [method.rawValue, url, idempotencyKey ?? ""] + headers.flatMap { [$0.name.lowercased(), $0.value] },
            body: body,
            tokens: tokens.map(ObjectIdentifier.init),
            mayGoWithoutToken: mayGoWithoutToken,
            validator: validator,
            retry: retry,
            timeout: timeout,
            maxResponseBytes: maxResponseBytes
        )
    }

    /// One attempt.
    func httpRequest(token: AccessToken?, id: String, from client: ClientNames) -> HTTPRequest {
        var added: [(name: String, value: String)] = [
            ("Accept", "application/json"), ("X-Request-ID", id),
            ("X-Client-Version", client.clientVersion), ("User-Agent", client.userAgent),
        ]
        if method == .post || method == .put { added.append(("Content-Type", "application/json")) }
        // The host's content headers take precedence. The manager sets the headers that identify the client and the
        // attempt.
        let preferred: Set = ["accept", "content-type", "user-agent"]
        let names = Set(headers.map { $0.name.lowercased() })
        added.removeAll { preferred.contains($0.name.lowercased()) && names.contains($0.name.lowercased()) }
        if let token { added.append(("Authorization", "Bearer " + token.rawValue)) }
        if let idempotencyKey { added.append(("X-Idempotency-Key", idempotencyKey)) }
        if let etag = validator?.etag { added.append(("If-None-Match", etag)) }
        if let date = validator?.lastModified { added.append(("If-Modified-Since", date)) }
        let ours = Set(added.map { $0.name.lowercased() })
        return HTTPRequest(
            method: HTTPRequest.Method(rawValue: method.rawValue) ?? .get,
            url: url,
            headers: headers.filter { !ours.contains($0.name.lowercased()) } + added,
            body: body,
            timeout: timeout,
            maxResponseBytes: maxResponseBytes
        )
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
