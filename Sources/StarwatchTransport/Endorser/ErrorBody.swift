internal import FoundationEssentials
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
        guard body.count <= Self.limitBytes,
            let first = body.first(where: { $0 > 32 }), first == UInt8(ascii: "{") || first == UInt8(ascii: "\"")
        else { return }
        guard JSONText.isBounded(Array(body)) else { return }
        let data = Data(body)
        if first == UInt8(ascii: "\"") {
            message = (try? JSONDecoder().decode([String].self, from: Data("[".utf8) + data + Data("]".utf8)))?.first
        } else if let wire = try? JSONDecoder().decode(Wire.self, from: data) {
            code = wire.code ?? wire.error?.code ?? wire.error?.text
            message = wire.error?.message ?? wire.message ?? wire.error?.text
            retryAfterSeconds = wire.retryAfter
            requestID = wire.requestID
            isObject = wire.error?.isObject ?? false
            field = wire.details?.field
            requiredScope = wire.details?.requiredScope
            currentTime = wire.details?.currentTime.flatMap { Timestamp(iso8601: $0) }
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

    private struct Wire: Decodable {
        var error: ErrorField?
        var code: String?
        var message: String?
        var retryAfter: Double?
        var requestID: String?
        var details: Details?

        enum CodingKeys: String, CodingKey {
            case error, code, message, retryAfter, details
            case requestID = "requestId"
        }

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            error = try? container.decode(ErrorField.self, forKey: .error)
            code = try? container.decode(String.self, forKey: .code)
            message = try? container.decode(String.self, forKey: .message)
            retryAfter = try? container.decode(Double.self, forKey: .retryAfter)
            requestID = try? container.decode(String.self, forKey: .requestID)
            details = try? container.decode(Details.self, forKey: .details)
        }
    }

    private struct Details: Decodable {
        var field: String?
        var requiredScope: String?
        var currentTime: String?

        enum CodingKeys: CodingKey { case field, requiredScope, currentTime }

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            field = try? container.decode(String.self, forKey: .field)
            requiredScope = try? container.decode(String.self, forKey: .requiredScope)
            currentTime = try? container.decode(String.self, forKey: .currentTime)
        }
    }

    private struct ErrorField: Decodable {
        var text: String?
        var code: String?
        var message: String?
        var isObject = false

        enum CodingKeys: CodingKey { case code, message }

        init(from decoder: any Decoder) throws {
            if let text = try? decoder.singleValueContainer().decode(String.self) {
                self.text = text
                return
            }
            let container = try decoder.container(keyedBy: CodingKeys.self)
            isObject = true
            code = try? container.decode(String.self, forKey: .code)
            message = try? container.decode(String.self, forKey: .message)
        }
    }
}
