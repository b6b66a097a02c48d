/// The reason for a failure: an HTTP status, a reply of SMTP or another cause, and the server's own words as far as they are
/// in closed lists.
///
/// It contains no personal data. Its ``description`` is stored, logged and served; ``label`` is the metric label.
public struct FailureReason: Sendable, Hashable {
    /// A cause without an HTTP status.
    public enum Cause: String, Sendable, CaseIterable {
        /// The name did not resolve.
        case dns
        case connect
        /// The handshake failed, or the certificate or pinned key does not match.
        case tls
        /// The time limit passed before the last byte of the answer.
        case timeout
        /// The connection closed before the answer was complete.
        case reset
        /// The certificate has expired, by this machine's clock.
        case certificateExpired = "certificate_expired"
        /// The proxy opens no tunnel to the server.
        case proxy
        /// The body exceeds the request's limit, or the head exceeds 256 KiB.
        case tooLarge = "too_large"
        /// The answer is not HTTP, or cannot be decompressed.
        case malformed
        /// A successful answer that is not JSON.
        case notJSON = "not_json"
        /// A successful answer that is a web page, such as the login page of a network.
        case html
        /// A successful answer whose JSON is too expensive to decode.
        case tooComplex = "too_complex"
        /// The URL or a header contains characters that cannot be sent, or the client cannot send the request.
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
    /// The code of a mail server's reply; `nil` without one.
    public let reply: Int?
    /// The cause; `nil` if ``status`` or ``reply`` says it.
    public let cause: Cause?
    /// The server's words.
    public let detail: ServerErrorDetail

    /// The reason that an HTTP status is.
    public init(status: Int, detail: ServerErrorDetail = ServerErrorDetail()) {
        (self.status, reply, cause, self.detail) = (status, nil, nil, detail)
    }

    /// The reason that a mail server's reply is.
    public init(reply: Int) {
        (status, self.reply, cause, detail) = (nil, reply, nil, ServerErrorDetail())
    }

    public init(_ cause: Cause) { (status, reply, self.cause, detail) = (nil, nil, cause, ServerErrorDetail()) }

    /// The reason in one word: `http_403`, `smtp_550` or `dns`.
    public var word: String { status.map { "http_\($0)" } ?? reply.map { "smtp_\($0)" } ?? cause?.rawValue ?? "" }

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
        if word.hasPrefix("smtp_") {
            guard parts.count == 1, let reply = Int(word.dropFirst("smtp_".count)), (100..<1000).contains(reply) else {
                return nil
            }
            self.init(reply: reply)
        } else if word.hasPrefix("http_") {
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

extension FailureReason {
    /// The reason as a short phrase for a person, such as `HTTP 403, scope notifications:read`.
    public var phrase: String {
        guard let status else { return reply.map { "SMTP \($0)" } ?? cause?.phrase ?? "" }
        if label == .http3xx { return "HTTP \(status), a redirect" }
        let detail = detail.phrase
        return detail.isEmpty ? "HTTP \(status)" : "HTTP \(status), \(detail)"
    }

    /// The failure of a request to the server as one sentence with advice.
    public var sentence: String {
        guard let status else {
            return reply.map { "The mail server refused (\($0)); check its log." } ?? cause?.sentence ?? ""
        }
        if let problem = detail.token { return problem.sentence }
        let subject = detail.subject
        return switch status {
        case 300..<400:
            "Something redirects (\(status)); set server.url to the redirect's target, or log in to this machine's network."
        case 400 where detail.code?.isAboutToken == true: "The server rejected the token (400); check auth."
        case 401: "The server rejected the token (401); check auth."
        case 403 where detail.scope != nil:
            "The server denied access (403): the token needs \(subject); set auth.scope to it, or use a token with it."
        case 403: "The server denied access (403); check the account's permissions."
        case 404: "The server has no such endpoint (404); check server.url and server.dialect."
        case 407: "A proxy wants a login (407); check server.proxy_login_file."
        case 408: "The server did not receive the request in time (408); check the network."
        case 409: "The request conflicts with the server's state (409)."
        case 413: "The request is too large for the server (413); raise its limit."
        case 415: "The server does not accept JSON requests (415); check server.url."
        case 429: "The server rate-limited the request (429)."
        case 400..<500 where detail.field != nil:
            "The server rejected the request (\(status)) because of \(subject); check server.url and server.dialect."
        case 400..<500: "The server rejected the request (\(status)); check server.url and server.dialect."
        case 503: "The server is unavailable (503); check the server if it persists."
        case 500..<600: "Server error (\(status)); check the server if it persists."
        default: "The server sent the unexpected status \(status); check server.url."
        }
    }
}

extension FailureReason.Cause {
    /// The cause as a phrase.
    public var phrase: String { entry.phrase }

    var label: FailureLabel { entry.label }

    private var entry: (label: FailureLabel, phrase: String) {
        switch self {
        case .dns: (.dns, "the name does not resolve")
        case .connect: (.connect, "connection failed")
        case .proxy: (.connect, "the proxy refused the connection")
        case .tls: (.tls, "TLS handshake failed")
        case .certificateExpired: (.tls, "the certificate has expired")
        case .timeout: (.timeout, "timeout")
        case .reset: (.reset, "connection reset")
        case .tooLarge: (.malformed, "response too large")
        case .malformed: (.malformed, "malformed response")
        case .notJSON: (.malformed, "the answer is not JSON")
        case .html: (.html, "the answer is a web page")
        case .tooComplex: (.malformed, "the answer is too complex")
        case .invalidRequest: (.other, "invalid request")
        case .cancelled: (.other, "cancelled")
        case .contract: (.contract, "the page breaks the contract")
        case .rateLimit: (.http429, "rate limit")
        case .notAccepted: (.other, "not accepted")
        case .database: (.database, "database error")
        case .identityChanged: (.other, "the identity changed")
        case .noToken: (.noToken, "no token")
        case .tokenFile: (.noToken, "the token or secret file cannot be read")
        case .tokenFilePermissions: (.noToken, "other users can read the secret file")
        case .tokenFileContent: (.noToken, "the secret file cannot be used")
        case .keyMismatch: (.noToken, "the key does not match the DID")
        case .unsupportedDID: (.noToken, "the DID method is not supported")
        case .poolEmpty: (.noToken, "no valid token in the pool")
        case .tokenCommand: (.noToken, "the token command failed")
        case .tokenCommandOutput: (.noToken, "the token command printed no token")
        case .output: (.local, "the output cannot be written")
        case .notStarted: (.local, "the command cannot be started")
        case .exitStatus: (.local, "the command's exit status")
        case .signal: (.local, "the command ended by a signal")
        case .program: (.local, "the program did not take it")
        }
    }

    /// The failure of a request, or of a poll cycle, as one sentence with advice.
    public var sentence: String {
        switch self {
        case .timeout: "The response was not complete within server.timeout; raise it if the server is slow."
        case .dns: "The server's name does not resolve; check server.url and the resolver."
        case .connect: "The connection failed; check the server and the network."
        case .proxy:
            "The proxy refused the connection; check server.proxy and server.proxy_login_file, or the proxy's log."
        case .tls: "The TLS handshake failed; check the certificate, ca_file and pinned_public_key."
        case .certificateExpired:
            "The server's certificate has expired; tell its operator. If it is valid, correct this machine's clock."
        case .reset: "The connection closed before the response was complete; check the server and the network."
        case .tooLarge: "The response exceeds server.max_response, or its headers exceed 256 KiB; check the server."
        case .cancelled: "The request was cancelled."
        case .malformed:
            "The response is not valid HTTP, or cannot be decompressed; check server.url and any proxy in between."
        case .notJSON: "The server's answer is not valid JSON; check server.url and any proxy in front of the server."
        case .html:
            "The answer is a web page, not JSON; log in to this machine's network, or correct server.url or the proxy."
        case .tooComplex:
            "The server's answer has too many items or values, or is nested too deeply; check server.url."
        case .invalidRequest: "The request's URL or a header contains invalid characters; check server.url."
        case .contract: "The server's answer broke its contract."
        case .rateLimit: "The server, or our rate limit, asks to wait."
        case .database: "The database failed; check the disk."
        case .identityChanged: "Identity, stars, preferences or dialect changed during the cycle; nothing was stored."
        case .noToken: "There is no token; check auth."
        default: phrase.prefix(1).uppercased() + phrase.dropFirst() + "."
        }
    }
}

/// A reason for a failure as a metric label. Rare statuses and causes share a value, so that there are few series.
public enum FailureLabel: String, Sendable, CaseIterable {
    case dns, connect, tls, timeout, reset, malformed
    /// A web page in place of JSON.
    case html
    /// A redirect.
    case http3xx = "http_3xx"
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

    /// Whether a poll can fail for this reason.
    public var isOfPolls: Bool { self != .local && !isOfMail }

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
        return cause?.label ?? .other
    }
}

extension FailureLabel {
    fileprivate init(status: Int) {
        self =
            switch status {
            case 300..<400: .http3xx
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
