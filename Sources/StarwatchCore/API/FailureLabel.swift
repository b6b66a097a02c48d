/// A reason for a failure as a metric label. Rare statuses and causes share a value, so that there are few series.
public enum FailureLabel: String, Sendable, CaseIterable {
    case dns, connect, tls, timeout, reset, malformed
    case http400 = "http_400"
    case http401 = "http_401"
    case http403 = "http_403"
    case http404 = "http_404"
    case http410 = "http_410"
    case http429 = "http_429"
    /// Any other 4xx.
    case http4xx = "http_4xx"
    case http503 = "http_503"
    /// Any other 5xx.
    case http5xx = "http_5xx"
    /// A mail server's reply of the class 4.
    case smtp4xx = "smtp_4xx"
    /// One of the class 5.
    case smtp5xx = "smtp_5xx"
    case contract
    case noToken = "no_token"
    /// A file, command or program on this machine.
    case local
    case database
    case other

    /// Whether only a sink that sends mails can fail for this reason.
    public var isOfMail: Bool { self == .smtp4xx || self == .smtp5xx }

    /// Whether a sink that sends no requests can fail for this reason.
    public var isLocal: Bool {
        switch self {
        case .local, .database, .timeout, .other: true
        default: false
        }
    }
}

extension FailureReason {
    public var label: FailureLabel {
        if let status { return FailureLabel(status: status) }
        if let reply { return reply < 500 ? .smtp4xx : .smtp5xx }
        return switch cause {
        case .dns: .dns
        case .connect: .connect
        case .tls: .tls
        case .timeout: .timeout
        case .reset: .reset
        case .tooLarge, .malformed, .notJSON, .tooComplex: .malformed
        case .contract: .contract
        case .rateLimit: .http429
        case .noToken, .tokenFile, .tokenFilePermissions, .tokenFileContent, .keyMismatch, .unsupportedDID, .poolEmpty,
            .tokenCommand, .tokenCommandOutput:
            .noToken
        case .output, .notStarted, .exitStatus, .signal, .program: .local
        case .database: .database
        case .invalidRequest, .cancelled, .notAccepted, .identityChanged, nil: .other
        }
    }
}

extension FailureLabel {
    fileprivate init(status: Int) {
        self =
            switch status {
            case 400: .http400
            case 401: .http401
            case 403: .http403
            case 404: .http404
            case 408: .timeout
            case 410: .http410
            case 429: .http429
            case 503: .http503
            case 400..<500: .http4xx
            case 500..<600: .http5xx
            default: .other
            }
    }
}
