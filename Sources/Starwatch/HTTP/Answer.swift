import FoundationEssentials
import Hummingbird

/// What a route answers, before the headers that every answer has.
struct Answer: Sendable {
    var status = 200
    var contentType: String
    var headers: [String: String] = [:]
    var body: [UInt8]

    init(status: Int = 200, contentType: String, body: [UInt8]) {
        self.status = status
        self.contentType = contentType
        self.body = body
    }

    /// `value` as JSON with sorted keys.
    static func json(_ value: some Encodable, status: Int = 200) -> Answer {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        guard let data = try? encoder.encode(value) else {
            // Only a number that is not finite gets here, and that is a mistake of ours.
            return .error(500, "failed", "The answer cannot be written as JSON; please report this.")
        }
        return Answer(status: status, contentType: "application/json", body: Array(data))
    }

    static func error(_ status: Int, _ kind: String, _ message: String) -> Answer {
        json(ErrorBody(error: .init(kind: kind, message: message)), status: status)
    }

    static func error(_ error: ControlError) -> Answer {
        let status =
            switch error.kind {
            case .notFound: 404
            case .invalid: 400
            case .conflict: 409
            case .failed: 500
            }
        return .error(status, error.kind.rawValue, error.message)
    }

    /// The answer on the wire. A `HEAD` keeps the length of what `GET` would have sent.
    func response(withoutBody: Bool) -> Response {
        var fields = HTTPFields()
        func set(_ name: String, _ value: String) {
            if let name = HTTPFields.Element.Name(name) { fields[name] = value }
        }
        set("Content-Type", contentType)
        set("Content-Length", String(body.count))
        set("Cache-Control", "no-store")
        set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
        set("X-Content-Type-Options", "nosniff")
        set("X-Frame-Options", "DENY")
        set("Referrer-Policy", "no-referrer")
        for (name, value) in headers { set(name, value) }
        return Response(
            status: .init(code: status),
            headers: fields,
            body: withoutBody ? .init() : .init(byteBuffer: ByteBuffer(bytes: body))
        )
    }
}
