import Logging
import StarwatchCore
import StarwatchPolling
import StarwatchTransport

/// Makes the configured sinks.
struct SinkFactory {
    let delivery: DeliveryOptions
    /// The accounts of the agent. Each of many can bring what a sink leaves out.
    let accounts: AccountMode
    let http: any HTTPTransport
    let certificates: CertificateMetrics?
    let secrets: SecretFiles
    let feed: Feed
    let time: any TimeSource
    let logger: Logger
    /// The number of log lines that no reader took so far.
    let droppedLines: @Sendable () -> UInt64

    /// Makes the sinks in the order of the configuration.
    func sinks() throws(AgentError) -> [any NotificationSink] {
        var sinks: [any NotificationSink] = []
        for sink in delivery.sinks { sinks.append(try self.sink(sink)) }
        return sinks
    }

    private func sink(_ sink: SinkOptions) throws(AgentError) -> any NotificationSink {
        if let part = sink.partsOfAccounts.needed.first, accounts == .one {
            throw AgentError(.configuration, "delivery.sinks.\(sink.name) needs its \(part.setting); add it.")
        }
        try check(sink.hours, in: sink.timezone, "delivery.sinks.\(sink.name)")
        return switch sink.kind {
        case .stdout: StdoutSink(name: sink.name)
        case .log: LogEntrySink(name: sink.name, logger: logger, droppedLines: droppedLines)
        case .feed(let keep): FeedSink(name: sink.name, keep: keep, feed: feed)
        case .file(let path): FileSink(name: sink.name, path: path, others: otherFiles(than: sink))
        case .webhook(let url, let secretFile, let timeout):
            WebhookSink(
                name: sink.name,
                url: url,
                urlFile: try sink.urlFile.map { path throws(AgentError) in
                    try secrets.file(path, "delivery.sinks.\(sink.name).url_file", holding: .line)
                },
                timeout: timeout,
                http: try client(of: sink),
                time: time,
                secret: try signingSecret(secretFile, "delivery.sinks.\(sink.name).secret_file"),
                includesAccount: sink.includesAccount,
                template: sink.body
            )
        case .ntfy(let url, let topic, let tokenFile):
            NtfySink(
                name: sink.name,
                url: url,
                topic: topic,
                http: try client(of: sink),
                time: time,
                token: try tokenFile.map { path throws(AgentError) in
                    .file(try secrets.file(path, "delivery.sinks.\(sink.name).token_file", holding: .token))
                }
            )
        case .chat(let chat): try self.chat(chat, of: sink)
        case .email(let mail):
            try MailSink(
                mail,
                of: sink,
                password: try mail.passwordFile.map { path throws(AgentError) in
                    .file(try secrets.file(path, "delivery.sinks.\(sink.name).password_file", holding: .line))
                },
                http: try client(of: sink),
                catalogues: delivery.catalogues
            )
        case .command(let argv, let timeout): CommandSink(name: sink.name, argv: argv, timeout: timeout, time: time)
        }
    }

    private func check(_ hours: SinkHours?, in timezone: String?, _ setting: String) throws(AgentError) {
        guard let hours else { return }
        do throws(ZoneSettingError) { _ = try LocalZone.zone(named: timezone) } catch {
            throw AgentError(.configuration, "\(setting).timezone \(error)")
        }
        if case .deliverAt(let times) = hours, times.isEmpty {
            throw AgentError(.configuration, "\(setting).deliver_at must name at least one time of the day.")
        }
    }

    private func chat(_ chat: ChatOptions, of sink: SinkOptions) throws(AgentError) -> ChatSink {
        let setting = "delivery.sinks.\(sink.name)"
        let service = chat.service
        let address: ChatSink.Address =
            switch chat.address {
            case .url(let url): .url(url)
            case .file(let path): .file(try secrets.file(path, "\(setting).url_file", holding: .line))
            case .standard: .url(service.standardURL ?? "")
            }
        var chatSink = ChatSink(
            name: sink.name,
            service: service,
            receiver: (
                chat.room ?? "",
                try chat.tokenFile.map { path throws(AgentError) in
                    .file(try secrets.file(path, "\(setting).token_file", holding: .token))
                }
            ),
            address: address,
            timeout: chat.timeout,
            http: try client(of: sink),
            time: time
        )
        (chatSink.topic, chatSink.catalogues) = (chat.topic, delivery.catalogues)
        return chatSink
    }

    /// The client of a sink that sends requests. It notes when the sink's certificate expires, unless the receivers are those of
    /// accounts, each with its own.
    private func client(of sink: SinkOptions) throws(AgentError) -> any HTTPTransport {
        let client = try trustingClient(of: sink)
        if sink.isOfAccounts { return client }
        return WatchedTransport(client) { [certificates, owner = CertificateOwner.sink(sink.name)] expiry in
            certificates?.show(expiry, of: owner)
        }
    }

    /// One with its own trust anchors, and one for mails, ends with the sink.
    private func trustingClient(of sink: SinkOptions) throws(AgentError) -> any HTTPTransport {
        guard let trust = try sink.trust(secrets) else { return http }
        do { return try HTTPClient(options: trust, time: time) } catch {
            throw AgentError(.configuration, error.description)
        }
    }

    private func signingSecret(_ path: String?, _ setting: String) throws(AgentError) -> SinkSecret? {
        guard let path else { return nil }
        let file = try secrets.file(path, setting, holding: .keys) { bytes throws(AgentError) in
            guard WebhookSigner(file: bytes) == nil else { return }
            throw AgentError(
                .configuration,
                "\(setting) must hold the secret's bytes, or lines of whsec_ and then a secret in base64."
            )
        }
        return .file(file)
    }

    private func otherFiles(than sink: SinkOptions) -> [String] {
        delivery.sinks.compactMap { other in
            guard other.name != sink.name, case .file(let path) = other.kind else { return nil }
            return path
        }
    }
}

extension SinkAddressPart {
    /// The words for the setting that the file leaves out.
    fileprivate var setting: String {
        switch self {
        case .url: "address"
        case .room: "room"
        case .topic: "topic"
        case .to: "receiver"
        case .secret: "token file"
        }
    }
}
