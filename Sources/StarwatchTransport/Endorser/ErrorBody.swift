import StarwatchCore

/// The content of an error response, in the shapes that servers of both dialects send.
///
/// The shapes are `{"error": "code", "message": …}`, `{"error": "sentence"}`, `{"error": {"code", "message"}}` and a
/// bare JSON string. HTML and any other body leave all fields `nil`. The texts only classify the error and are never
/// logged or shown: the endorser server repeats whole tokens in them.
struct ErrorBody: Sendable, Equatable {
    /// The machine-readable code, or the sentence that the server sends in its place.
    var code: String?
    var message: String?
    var retryAfterSeconds: Double?
    /// The server's identifier of the request.
    var requestID: String?
    /// `details.field` and `details.requiredScope`.
    var field: String?
    var requiredScope: String?
    /// `details.currentTime`: the server's clock.
    var currentTime: Timestamp?
    /// Whether `error` is an object: the endorser server's shape for rejected tokens.
    var isObject = false

    /// The size limit. A larger body is ignored.
    static let limitBytes = 64 * 1024

    init() {}

    init(_ body: some Collection<UInt8>) {
        let bytes = Array(body.prefix(Self.limitBytes + 1))
        guard bytes.count <= Self.limitBytes, JSONText.isBounded(bytes), let tree = JSONTree(json: bytes) else {
            return
        }
        func text(_ path: String) -> String? { if case .text(let text)? = tree[path] { text } else { nil } }
        switch tree {
        case .text(let text): message = text
        case .object:
            let sentence = text("error")
            code = text("code") ?? text("error.code") ?? sentence
            message = text("error.message") ?? text("message") ?? sentence
            retryAfterSeconds = tree["retryAfter"]?.double
            requestID = text("requestId")
            if case .object? = tree["error"] { isObject = true }
            field = text("details.field")
            requiredScope = text("details.requiredScope")
            currentTime = text("details.currentTime").flatMap { Timestamp(iso8601: $0) }
        default: break
        }
    }

    /// The words of the body that are in closed lists. Anything else is dropped.
    var detail: ServerErrorDetail {
        ServerErrorDetail(
            code: code.flatMap(ServerErrorCode.init(rawValue:)),
            field: field.flatMap(RequestField.init(path:)),
            scope: requiredScope.flatMap { TokenScope($0) }
        )
    }
}
