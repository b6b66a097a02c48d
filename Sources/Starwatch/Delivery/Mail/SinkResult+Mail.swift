import StarwatchTransport

extension SinkResult {
    /// The meaning of a mail server's reply, or of its absence.
    ///
    /// A mail that cannot be sent now is retried; one that the server refuses for good counts as rejected. A login that
    /// fails is no fault of the mail.
    init(mailing exchange: HTTPExchange) {
        let refusal = exchange.status.flatMap { (400..<600).contains($0) ? $0 : nil }
        switch (exchange.result, refusal) {
        case (.success(let response), _): self.init(reply: response)
        case (.failure(.timeout), _): self = .timeout
        case (.failure(.login), let code?): self = .loginRefused(code: code)
        case (.failure(.unencrypted), let code?) where code < 500:
            self = .later("SMTP \(code)", FailureReason(reply: code))
        case (.failure(.connect), let code?):
            self = .unavailable(
                SinkFailure("The mail server refuses the connection (SMTP \(code)).", FailureReason(reply: code))
            )
        case (.failure(let error), _) where error.hasOwnSentence:
            self = .unavailable(SinkFailure(error.reason, error.cause))
        case (.failure(let error), _):
            self = .unavailable(
                SinkFailure("The mail server cannot be reached (\(error.cause.phrase)).", error.cause)
            )
        }
        // Without a refusal the last reply says nothing of the failure.
        if case .failure = exchange.result, refusal != nil { said = exchange.lastReply }
    }

    private init(reply response: HTTPResponse) {
        let (code, reason) = (Self.code(of: response), FailureReason(reply: response.status))
        self =
            switch response.status {
            case 200..<400: .ok
            // Before a mail, these replies want a login (RFC 4954, section 6).
            case 530, 534, 535, 538: .loginRefused(code: response.status)
            case 500..<600: .rejected(SinkFailure("The mail server refused the mail (\(code)).", reason))
            default: .later(code, reason)
            }
        said = response.body
        // Codes of a mailbox (RFC 3463, sections 3.2 and 3.3); 450 says the same unless it has a further code.
        isOfReceiver = code == "SMTP 450" || code.contains(/\ 4\.(2\.\d+|1\.[1-6])$/)
    }

    private static func later(_ code: String, _ reason: FailureReason) -> SinkResult {
        .unavailable(SinkFailure("The mail server asks to try later (\(code)).", reason))
    }

    private static func loginRefused(code: Int) -> SinkResult {
        if code < 500 { return .later("SMTP \(code)", FailureReason(reply: code)) }
        let sentence =
            code == 530
            ? "The mail server wants a login, or encryption first (SMTP 530); add username and password_file, or ca_file."
            : "The mail server refuses the login (SMTP \(code)); correct username and password_file."
        return .unavailable(SinkFailure(sentence, FailureReason(reply: code)))
    }

    /// The codes of a reply, such as `SMTP 550 5.1.1` (RFC 3463). Its text can have an address.
    private static func code(of response: HTTPResponse) -> String {
        let reply = String(decoding: response.body, as: UTF8.self)
        guard let found = reply.prefixMatch(of: /(\d{3})[ \-]([245]\.\d{1,3}\.\d{1,3})\b/),
            Int(found.1) == response.status
        else { return "SMTP \(response.status)" }
        return "SMTP \(response.status) \(found.2)"
    }
}
