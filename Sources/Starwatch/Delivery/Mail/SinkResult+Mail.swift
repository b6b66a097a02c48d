import StarwatchTransport

extension SinkResult {
    /// The meaning of a mail server's reply, or of its absence.
    ///
    /// A mail that cannot be sent now is retried; one that the server refuses for good counts as rejected. A login that
    /// fails is no fault of the mail.
    init(mailing exchange: HTTPExchange) {
        let code = exchange.status.map { "SMTP \($0)" }
        switch exchange.result {
        case .success(let response): self.init(reply: response)
        case .failure(.timeout): self = .timeout
        case .failure(.login): self = .loginRefused(code: exchange.status ?? 535)
        case .failure(.unencrypted):
            self = .unavailable(
                SinkFailure("The mail server offers no STARTTLS; use smtps://, or another server.", .tls)
            )
        case .failure(.configuration(let advice)): self = .unavailable(SinkFailure(advice, .invalidRequest))
        case .failure(.connect) where (400..<600).contains(exchange.status ?? 0):
            self = .unavailable(
                SinkFailure(
                    "The mail server refuses the connection (\(code ?? "")).",
                    FailureReason(reply: exchange.status ?? 0)
                )
            )
        case .failure(let error):
            self = .unavailable(
                SinkFailure("The mail server cannot be reached (\(error.cause.phrase)).", error.cause)
            )
        }
    }

    private init(reply response: HTTPResponse) {
        let (code, reason) = (Self.code(of: response), FailureReason(reply: response.status))
        self =
            switch response.status {
            case 200..<400: .ok
            // Before a mail, these replies want a login (RFC 4954, section 6).
            case 530, 534, 535, 538: .loginRefused(code: response.status)
            case 500..<600: .rejected(SinkFailure("The mail server refused the mail (\(code)).", reason))
            default: .unavailable(SinkFailure("The mail server asks to try later (\(code)).", reason))
            }
        isOfReceiver = response.status == 450 || code.contains(/\ 4\.[12]\./)
    }

    private static func loginRefused(code: Int) -> SinkResult {
        let sentence =
            code < 500
            ? "The mail server asks to try later (SMTP \(code))."
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
