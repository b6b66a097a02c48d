/// The parts of a server's error response that can be shown: each from a closed list. Anything else is dropped, because
/// a server's text can contain tokens and identifiers.
public struct ServerErrorDetail: Sendable, Hashable {
    /// The error code.
    public var code: ServerErrorCode?
    /// The field of the request that the server rejects, from `details.field`.
    public var field: RequestField?
    /// The scope that the token lacks, from `details.requiredScope`.
    public var scope: TokenScope?
    /// The problem of the token, read from the server's sentence.
    public var token: TokenProblem?

    public init(
        code: ServerErrorCode? = nil,
        field: RequestField? = nil,
        scope: TokenScope? = nil,
        token: TokenProblem? = nil
    ) {
        (self.code, self.field, self.scope, self.token) = (code, field, scope, token)
    }

    var phrase: String {
        [code?.rawValue, field.map { "field \($0.rawValue)" }, scope.map { "scope \($0)" }, token?.phrase]
            .compactMap { $0 }.joined(separator: ", ")
    }

    var subject: String { scope.map { "the scope \($0)" } ?? field.map { "the field \($0.rawValue)" } ?? "" }
}

extension ServerErrorDetail: LosslessStringConvertible {
    /// `error=forbidden scope=notifications:read`; empty if nothing is known.
    public var description: String {
        [
            code.map { "error=\($0.rawValue)" }, field.map { "field=\($0.rawValue)" }, scope.map { "scope=\($0)" },
            token.map { "token=\($0.rawValue)" },
        ].compactMap { $0 }.joined(separator: " ")
    }

    /// Reads a ``description``; `nil` for any other text.
    public init?(_ description: String) {
        for part in description.split(separator: " ") {
            let pair = part.split(separator: "=", maxSplits: 1).map(String.init)
            guard pair.count == 2 else { return nil }
            switch pair[0] {
            case "error": code = ServerErrorCode(rawValue: pair[1])
            case "field": field = RequestField(rawValue: pair[1])
            case "scope": scope = TokenScope(pair[1])
            case "token": token = TokenProblem(rawValue: pair[1])
            default: return nil
            }
        }
        guard self.description == description else { return nil }
    }
}

/// The error codes of both dialects.
public enum ServerErrorCode: String, Sendable, CaseIterable {
    case invalidRequest = "invalid_request"
    case unauthorized
    case invalidToken = "invalid_token"
    case tokenExpired = "token_expired"
    case forbidden
    case rateLimitExceeded = "RATE_LIMIT_EXCEEDED"
    case internalServerError = "internal_server_error"
    case serviceUnavailable = "service_unavailable"
    case tokenNotVerified = "JWT_VERIFY_FAILED"
    case unsupportedDIDMethod = "UNSUPPORTED_DID_METHOD"

    /// Whether the server rejected the token, whatever the status.
    public var isAboutToken: Bool {
        switch self {
        case .unauthorized, .invalidToken, .tokenExpired, .tokenNotVerified, .unsupportedDIDMethod: true
        case .invalidRequest, .forbidden, .rateLimitExceeded, .internalServerError, .serviceUnavailable: false
        }
    }
}

/// The fields of the agent's requests.
public enum RequestField: String, Sendable, CaseIterable {
    case planIds, afterId, beforeId, limit, acknowledgedJwtIds, acknowledgedAt, clientVersion

    /// Reads `planIds` and `planIds[3]`; `nil` for a field that the agent does not send.
    public init?(path: String) { self.init(rawValue: String(path.prefix { $0 != "[" && $0 != "." })) }
}

/// A scope such as `notifications` or `notifications:read`. Both parts are from closed lists.
public struct TokenScope: Sendable, Hashable, LosslessStringConvertible {
    private static let subjects: Set<String> = [
        "acknowledgements", "claims", "notifications", "offers", "plans", "projects", "reports", "starred_projects",
    ]
    private static let actions: Set<String> = ["acknowledge", "admin", "list", "read", "write"]

    /// The scope that the agent's tokens have by default.
    public static let standard = "notifications"

    public let description: String

    public init?(_ description: String) {
        let parts = description.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
        guard (1...2).contains(parts.count), Self.subjects.contains(parts[0]),
            parts.count == 1 || Self.actions.contains(parts[1])
        else { return nil }
        self.description = description
    }
}

/// The problem of a token, as a server's sentence names it.
public enum TokenProblem: String, Sendable, CaseIterable {
    case expired
    case notYetValid = "not_yet_valid"
    case audience
    case key
    /// The token is signed with HS256 or another algorithm, and the server verifies only ES256K.
    case algorithm
    case didMethod = "did_method"

    var phrase: String {
        switch self {
        case .expired: "expired token"
        case .notYetValid: "token not valid yet"
        case .audience: "token with an audience"
        case .key: "token signed with another key"
        case .algorithm: "token signed with the wrong algorithm"
        case .didMethod: "unsupported DID method"
        }
    }

    /// The problem as one sentence with advice.
    public var sentence: String {
        switch self {
        case .expired: "The server reports an expired token; check auth and this machine's clock."
        case .notYetValid: "The server reports that the token is not valid yet; check this machine's clock."
        case .audience: "The server rejects tokens with an audience; set server.dialect to endorser."
        case .key: "The token is not signed with the key of its DID; check auth and identity.did."
        case .algorithm:
            "The server accepts only ES256K tokens, and shared_secret signs with HS256; "
                + "set auth.kind to did_key, and auth.key_file to the key of identity.did."
        case .didMethod: "The server does not support the DID method of identity.did; use another DID."
        }
    }
}
