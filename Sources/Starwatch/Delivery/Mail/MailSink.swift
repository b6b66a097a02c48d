package import StarwatchCore
package import StarwatchTransport

/// Sends each notification as a mail.
///
/// The mail's id is made from the notification's, so that mail programs show a retry once.
package struct MailSink: NotificationSink {
    package let name: String
    let url: String
    let sender: MailAddress
    private(set) var receivers: [MailAddress]
    /// The user and the password; `nil` for a server that wants none.
    private let login: (name: String, password: SinkSecret)?
    private let demandsTLS: Bool
    private let catalogues: MessageCatalogues
    private let http: any HTTPTransport

    /// The reason why this machine's libcurl cannot send mails, with advice; `nil` if it can.
    package static var libraryProblem: String? { CurlVersion.hasMail ? nil : CurlVersion.adviceWithoutMail }

    /// The time limit for a mail. Servers that examine it answer late; at twice this time the delivery's lease ends.
    private static let timeout = Duration.seconds(60)

    /// - Parameters:
    ///   - password: `nil` sends no login.
    ///   - catalogues: The texts beside the notification's own.
    /// - Throws: ``AgentError`` for an address that is none.
    init(
        _ sink: SinkOptions,
        password: SinkSecret?,
        http: any HTTPTransport,
        catalogues: MessageCatalogues = .builtIn
    ) throws(AgentError) {
        name = sink.name
        let address = sink["url"]?.text ?? ""
        if let problem = Self.problem(ofServer: address) {
            throw AgentError(.configuration, "delivery.sinks.\(name).url \(problem)")
        }
        let server = Self.complete(address)
        sender = try Self.address(sink["from"]?.text ?? "", "delivery.sinks.\(name).from")
        // libcurl says hello by the name after the host. Many servers refuse a name without a dot, as machines have.
        url = "\(server)/\(sender.domain)"
        // A machine's own server often has a certificate that nobody signed. Who names one wants encryption. A proxy is another
        // machine.
        demandsTLS =
            Self.isEncrypted(server) || !Self.isLoopback(server) || sink["ca_file"] != nil
            || sink["proxy"] != nil
        receivers = []
        for text in sink["to"]?.list ?? [] { receivers.append(try Self.address(text, "delivery.sinks.\(name).to")) }
        login = sink["username"]?.text.flatMap { user in password.map { (user, $0) } }
        (self.http, self.catalogues) = (http, catalogues)
    }

    private static func address(_ text: String, _ setting: String) throws(AgentError) -> MailAddress {
        do throws(MailAddressError) { return try MailAddress(parsing: text) } catch {
            throw AgentError(.configuration, "\(setting) \(error)")
        }
    }

    package func deliver(_ notification: OutgoingNotification) async -> SinkResult {
        await send(MailMessage(notification, from: sender, to: receivers, catalogues: catalogues).bytes)
    }

    /// Connects and logs in, without a mail.
    func greet() async -> SinkResult { await send(nil) }

    private func send(_ mail: [UInt8]?) async -> SinkResult {
        var present: (name: String, password: String)?
        if let login {
            guard let password = try? login.password.read() else {
                return .unavailable(SinkFailure("The sink's password_file cannot be read.", .tokenFile))
            }
            present = (login.name, String(decoding: password, as: UTF8.self))
        }
        let envelope = MailEnvelope(
            sender: sender.mailbox,
            recipients: receivers.map(\.mailbox),
            login: present,
            demandsTLS: demandsTLS
        )
        let request = HTTPRequest(mail: mail, envelope: envelope, url: url, timeout: Self.timeout)
        return SinkResult(mailing: await http.exchange(request))
    }

    package var host: String { SinkAddress.host(ofURL: url) }

    package var secrets: [String] {
        let own = login.map { [$0.name] + $0.password.words } ?? []
        return own + ([sender] + receivers).map(\.mailbox)
    }

    package func sink(of account: DID, at address: SinkAddress) -> MailSink {
        var sink = self
        if let to = address[.to], let receiver = try? MailAddress(parsing: to) { sink.receivers = [receiver] }
        return sink
    }
}

extension MailSink: ConfiguredSink {
    package static let kind = "email"
    package static let settings =
        [
            SinkSetting("url", .word(problem(ofServer:)), "smtps://, or smtp:// with STARTTLS", isNeeded: true),
            SinkSetting(
                "from",
                .word(MailAddress.problem(of:)),
                "the sender, with or without a name",
                isNeeded: true,
                shown: "<address>"
            ),
            SinkSetting(
                "to",
                .list(MailAddress.problem(of:)),
                "one receiver or a list",
                isNeeded: true,
                part: .to,
                shown: "<address>"
            ),
            SinkSetting("username", .text { _ in nil }, shown: "<username>"),
            SinkSetting("password_file", .secretFile(.line)),
        ] + SinkSetting.connection
    private static let mailServer = "Mail server, such as smtps://mail.example.org"
    package static let setups = [
        SetupSink(
            kind,
            SinkOptions.Kind(MailSink.self),
            rank: 7,
            [
                .init("url", form: "smtps://HOST", "The mail server", asks: mailServer),
                .init("from", "to", form: "ADDRESS", "Your address", asks: "Your address, which also sends the mails"),
            ],
            secret: SetupSink.Secret(setting: "password_file", name: "mail.password", user: "username")
        )
    ]
    package static var examples: [(comment: String, sink: SinkOptions)] {
        let (sender, receivers) = ("Starwatch <agent@example.org>", ["me@example.org"])
        var kind = SinkOptions.Kind.email(url: "smtps://mail.example.org", from: sender, to: receivers)
        (kind["username"], kind["password_file"]) = ("agent@example.org", "mail.password")
        return [("Mails, by way of a mail server:", SinkOptions(name: "mail", kind: kind))]
    }

    package static func make(_ sink: SinkOptions, by factory: SinkFactory) throws(AgentError) -> any NotificationSink {
        try MailSink(
            sink,
            password: try factory.file("password_file", of: sink).map { .file($0) },
            http: try factory.client(of: sink),
            catalogues: factory.delivery.catalogues
        )
    }

    package static func adapt(_ client: inout HTTPClientOptions) {
        client.isForMails = true
        // Servers that examine a client greet it late, and answer a wrong password later still.
        client.connectTimeout = .seconds(30)
    }

    /// Connects to a mail server and logs in, if this user can read the password.
    package static func reach(_ sink: SinkOptions, within limit: Duration) async -> Reach {
        let secret = sink["password_file"]?.text.map {
            SecretFile(path: $0, setting: "delivery.sinks.\(sink.name).password_file", holding: .line)
        }
        let password = secret.flatMap { file in (try? file.bytes()).map { _ in SinkSecret.file(file) } }
        do {
            let http = try Reach.client(of: sink)
            defer { http.shutdown() }
            let result = await (try MailSink(sink, password: password, http: http)).greet()
            return result.failure.map(Reach.failed) ?? .ready
        } catch let error as AgentError {
            return .failed(SinkFailure(error.message, .invalidRequest))
        } catch { return .failed(error as? SinkFailure ?? SinkFailure("\(error)", .invalidRequest)) }
    }

    package static func mistakes(in sink: SinkOptions, has: (String) -> Bool, isForMany: Bool) -> [Mistake] {
        mistakes(has: has, library: libraryProblem)
    }

    /// - Parameter library: What is wrong with this machine's libcurl.
    package static func mistakes(has: (String) -> Bool, library: String?) -> [Mistake] {
        var mistakes: [Mistake] = []
        if let library { mistakes.append(("kind", library)) }
        for (key, other) in [("username", "password_file"), ("password_file", "username")] where has(key) && !has(other)
        {
            mistakes.append((key, "needs \(other); add it."))
        }
        return mistakes
    }
}

extension SinkOptions.Kind {
    /// Mails, by way of a mail server: `smtps://host`, with port 465 if it names none, or `smtp://host`, with port 587. The
    /// second one must offer STARTTLS. At this machine `smtp:` is in clear text, with port 25.
    ///
    /// - Parameters:
    ///   - from: The sender, such as `agent@example.org` or `Starwatch <agent@example.org>`.
    ///   - to: The receivers. If it is empty, each of many accounts brings its own.
    public static func email(url: String, from: String, to: [String]) -> Self {
        Self(MailSink.self, ["url": .text(url), "from": .text(from), "to": .list(to)])
    }
}
