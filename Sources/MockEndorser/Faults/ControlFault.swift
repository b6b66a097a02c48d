/// The body of `POST /mock/fault`, with keys in snake case.
struct ControlFault: Decodable {
    /// The raw value of a ``MockEndpoint``.
    var endpoint: String
    /// `status`, `delay`, `drip_body`, `reset_before_head`, `reset_mid_body`, `never_answer`, `malformed_json`,
    /// `schema_violation`, `oversized_body`, `redirect`, `rate_limited`, `commit_then_reset`,
    /// `authentication_failure`.
    var fault: String
    /// Whether the fault applies to all requests; by default it applies to the next ``count`` requests.
    var sticky: Bool?
    /// Number of requests; 1 by default.
    var count: Int?
    var status: Int?
    var headers: [String: String]?
    var body: String?
    /// Length of a `delay`.
    var seconds: Double?
    var chunkBytes: Int?
    var everyMs: Int?
    var afterBytes: Int?
    /// The raw value of a ``MockSchemaViolation``.
    var kind: String?
    var bytes: Int?
    var gzip: Bool?
    var declaresLength: Bool?
    /// Target of a `redirect`.
    var to: String?
    /// The text of `Retry-After`.
    var retryAfter: String?
    /// Sends a date as `Retry-After`, this many seconds after the mock's time.
    var retryAfterDateIn: Double?
    /// The format of that date, the raw value of an ``HTTPDateForm``.
    var form: String?

    /// The fault; `nil` if a required field is missing or unknown.
    var value: MockFault? {
        switch fault {
        case "status": status.map { .status($0, headers: headers ?? [:], body: body) }
        case "delay": seconds.map { .delay(.seconds($0)) }
        case "drip_body": .dripBody(chunkBytes: chunkBytes ?? 1, every: .milliseconds(everyMs ?? 10))
        case "reset_before_head": .resetBeforeHead
        case "reset_mid_body": .resetMidBody(afterBytes: afterBytes ?? 1)
        case "never_answer": .neverAnswer
        case "malformed_json": .malformedJSON
        case "schema_violation": kind.flatMap(MockSchemaViolation.init(rawValue:)).map { .schemaViolation($0) }
        case "oversized_body":
            bytes.map { .oversizedBody(bytes: $0, gzip: gzip ?? false, declaresLength: declaresLength ?? false) }
        case "redirect": to.map { .redirect(to: $0) }
        case "rate_limited": .rateLimited(retryAfter: retryAfterValue)
        case "commit_then_reset": .commitThenReset
        case "authentication_failure": .authenticationFailure
        default: nil
        }
    }

    private var retryAfterValue: MockRetryAfter? {
        if let seconds = retryAfterDateIn {
            return .date(in: .seconds(seconds), form: form.flatMap(HTTPDateForm.init(rawValue:)) ?? .imfFixdate)
        }
        return retryAfter.map { .text($0) }
    }
}
