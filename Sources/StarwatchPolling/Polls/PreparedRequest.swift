import StarwatchCore
import StarwatchStore
import StarwatchTransport

/// A request with everything resolved: what goes over the wire, whatever token and try it takes.
struct PreparedRequest: Sendable {
    var method: PollMethod
    var url: String
    /// Scheme, host and port.
    var origin: String
    /// The host's, by name.
    var headers: [(name: String, value: String)]
    var body: [UInt8]?
    var account: DID?
    /// Where tokens come from; `nil`: it carries none.
    var tokens: PollTokens.Source?
    var mayGoWithoutToken: Bool
    var idempotencyKey: String?
    var validator: StoredValidator?
    var retry: RetryPolicy?
    var timeout: Duration
    var maxResponseBytes: Int

    /// What two requests have in common that are one.
    ///
    /// A key that was made for this request is not a part of it: whoever asks the same at the same time may have the
    /// same answer.
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

    /// One try.
    func httpRequest(token: AccessToken?, requestID: String) -> HTTPRequest {
        var added: [(name: String, value: String)] = [
            ("Accept", "application/json"), ("X-Request-ID", requestID), ("X-Client-Version", AgentVersion.userAgent),
            ("User-Agent", AgentVersion.userAgent),
        ]
        if method == .post || method == .put { added.append(("Content-Type", "application/json")) }
        // The host knows better what it sends and takes; who it is, and for which try, is for us to say.
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
