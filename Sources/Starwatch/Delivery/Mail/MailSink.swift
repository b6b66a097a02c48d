package import StarwatchCore
import StarwatchTransport

/// Sends each notification as a mail.
///
/// The mail's id is made from the notification's, so that mail programs show a retry once.
package struct MailSink: AddressedSink {
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
        _ mail: EmailOptions,
        of sink: SinkOptions,
        password: SinkSecret?,
        http: any HTTPTransport,
        catalogues: MessageCatalogues = .builtIn
    ) throws(AgentError) {
        name = sink.name
        if let problem = MailURL.problem(mail.url) {
            throw AgentError(.configuration, "delivery.sinks.\(name).url \(problem)")
        }
        let server = MailURL.complete(mail.url)
        sender = try Self.address(mail.from, "delivery.sinks.\(name).from")
        // libcurl says hello by the name after the host. Many servers refuse a name without a dot, as machines have.
        url = "\(server)/\(sender.domain)"
        // A machine's own server often has a certificate that nobody signed. Who names one wants encryption. A proxy is another
        // machine.
        demandsTLS =
            MailURL.isEncrypted(server) || !MailURL.isLoopback(server) || sink.caFile != nil || sink.proxy != nil
        receivers = []
        for text in mail.to { receivers.append(try Self.address(text, "delivery.sinks.\(name).to")) }
        login = mail.username.flatMap { user in password.map { (user, $0) } }
        (self.http, self.catalogues) = (http, catalogues)
    }

    private static func address(_ text: String, _ setting: String) throws(AgentError) -> MailAddress {
        do throws(MailAddressError) { return try MailAddress(parsing: text) } catch {
            throw AgentError(.configuration, "\(setting) \(error)")
        }
    }

    package func deliver(_ notification: OutgoingNotification) async -> SinkResult {
        await deliver(notification, dueSince: nil)
    }

    package func deliver(_ notification: OutgoingNotification, dueSince: Timestamp?) async -> SinkResult {
        let mail = NotificationMail(notification, catalogues: catalogues)
        return await send(mail.message(from: sender, to: receivers, dueSince: dueSince).bytes)
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

    var secrets: [String] {
        let own = login.map { [$0.name] + $0.password.words } ?? []
        return own + ([sender] + receivers).map(\.mailbox)
    }

    func sink(of account: DID, at address: SinkAddress) -> MailSink {
        var sink = self
        if let to = address.to, let receiver = try? MailAddress(parsing: to) { sink.receivers = [receiver] }
        return sink
    }
}
