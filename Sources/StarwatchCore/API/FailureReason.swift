/// The reason for a failure: an HTTP status or another cause, and the server's own words as far as they are in closed
/// lists.
///
/// It contains no personal data. Its ``description`` is stored, logged and served; ``label`` is the metric label.
public struct FailureReason: Sendable, Hashable {
    /// A cause without an HTTP status.
    public enum Cause: String, Sendable, CaseIterable {
        /// The name did not resolve.
        case dns
        case connect, tls, timeout, reset
        case tooLarge = "too_large"
        /// The answer is not HTTP, or cannot be decompressed.
        case malformed
        /// A successful answer that is not JSON.
        case notJSON = "not_json"
        /// A successful answer whose JSON is too expensive to decode.
        case tooComplex = "too_complex"
        /// The request cannot be sent as it is.
        case invalidRequest = "invalid_request"
        case cancelled
        /// A page breaks the contract.
        case contract
        /// The server's or the agent's rate limit.
        case rateLimit = "rate_limit"
        /// A complete answer that does not accept everything.
        case notAccepted = "not_accepted"
        case database
        /// The identity or its interests changed.
        case identityChanged = "identity_changed"

        case noToken = "no_token"
        case tokenFile = "token_file"
        case tokenFilePermissions = "token_file_permissions"
        case tokenFileContent = "token_file_content"
        case keyMismatch = "key_mismatch"
        case unsupportedDID = "unsupported_did"
        case poolEmpty = "pool_empty"
        case tokenCommand = "token_command"
        case tokenCommandOutput = "token_command_output"

        /// A sink's file, or standard output, cannot be written.
        case output
        /// A command could not be started.
        case notStarted = "not_started"
        case exitStatus = "exit_status"
        case signal
        /// The host program did not take it.
        case program
    }

    /// The status of the answer; `nil` without one.
    public let status: Int?
    /// The cause; `nil` if ``status`` says it.
    public let cause: Cause?
    /// The server's words.
    public let detail: ServerErrorDetail

    /// The reason that an HTTP status is.
    public init(status: Int, detail: ServerErrorDetail = ServerErrorDetail()) {
        (self.status, cause, self.detail) = (status, nil, detail)
    }

    public init(_ cause: Cause) {
        (status, self.cause, detail) = (nil, cause, ServerErrorDetail())
    }

    /// The reason in one word: `http_403` or `dns`.
    public var word: String {
        status.map { "http_\($0)" } ?? cause?.rawValue ?? ""
    }

    /// Whether polling needs a person: a retry cannot succeed before the token, its scope or the configuration changes.
    public var needsAction: Bool {
        switch label {
        case .http401, .http403, .noToken: true
        default: detail.code?.isAboutToken ?? false
        }
    }
}

extension FailureReason: LosslessStringConvertible {
    /// The word and the server's words: `http_403 error=forbidden scope=notifications:read`.
    public var description: String {
        let detail = detail.description
        return detail.isEmpty ? word : word + " " + detail
    }

    /// Reads a ``description``; `nil` for any other text.
    public init?(_ description: String) {
        let parts = description.split(separator: " ", maxSplits: 1)
        guard let word = parts.first else { return nil }
        if word.hasPrefix("http_") {
            guard let status = Int(word.dropFirst("http_".count)), (100..<1000).contains(status),
                let detail = ServerErrorDetail(parts.count == 2 ? String(parts[1]) : "")
            else { return nil }
            self.init(status: status, detail: detail)
        } else {
            guard parts.count == 1, let cause = Cause(rawValue: String(word)) else { return nil }
            self.init(cause)
        }
    }
}
