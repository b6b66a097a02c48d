import Foundation
import Logging
import Starwatch
import StarwatchCore
import StarwatchPolling
import StarwatchTransport

/// The TCP ports of an agent, with their web configurations and the control token.
struct ServedPorts: Sendable {
    /// The check of the passwords of all ports. It is the process's own, so that a reload forgets no right password.
    private static let passwordCheck = PasswordCheck()

    private let options: AgentOptions
    private let http: PortSecurity?
    private let control: PortSecurity?
    /// The file of the control token; `nil` if there is none, or no port for it.
    private let token: SecretFile?
    /// The file of the token in the feed's address; `nil` if there is none, or no port for it.
    private let feedToken: SecretFile?

    /// Reads the web configurations and the token.
    ///
    /// - Parameter agent: Gets the news of the web configurations; `nil` to check them alone.
    /// - Throws: ``AgentError`` with a sentence about the first file that is not usable.
    init(_ options: AgentOptions, _ agent: (any ServedAgent)?, _ source: WebConfiguration.Source?) throws(AgentError) {
        self.options = options
        http = try Self.security(.http, options.http.webConfigFile, hasToken: nil, of: agent, source)
        let hasPort = options.control.listen != nil
        token = try Self.file(hasPort ? options.control.tokenFile : nil, "control.token_file")
        feedToken = try Self.file(hasPort ? options.control.feedTokenFile : nil, "control.feed_token_file")
        let path = hasPort ? options.control.webConfigFile : nil
        control = try Self.security(.control, path, hasToken: token != nil, of: agent, source)
        if let agent { warn(agent) }
    }

    private static func security(
        _ port: ServedPort,
        _ path: String?,
        hasToken: Bool?,
        of agent: (any ServedAgent)?,
        _ source: WebConfiguration.Source?
    ) throws(AgentError) -> PortSecurity? {
        guard let path else { return nil }
        guard let source else {
            throw AgentError(.configuration, "A web configuration needs a reader; use AgentServers.http(web:).")
        }
        return try PortSecurity(path: path, hasToken: hasToken, source: source, now: { SystemClock().monotonic }) {
            agent?.noteWebConfiguration($0, at: port)
        }
    }

    /// The file of a token, which must have one.
    private static func file(_ path: String?, _ setting: String) throws(AgentError) -> SecretFile? {
        guard let path else { return nil }
        let credentials = ProcessInfo.processInfo.environment["CREDENTIALS_DIRECTORY"]
        let file = SecretFile(path: path, setting: setting, holding: .line, credentialsDirectory: credentials)
        _ = try read(file, setting)
        return file
    }

    /// Reads a token, for every request.
    private static func read(_ file: SecretFile, _ setting: String) throws(AgentError) -> String {
        let bytes = try file.bytes()
        let shortest = AgentServers.shortestControlToken
        guard bytes.count >= shortest else {
            let text = "The token of \(setting) has less than \(shortest) bytes; write a longer one."
            throw AgentError(.configuration, text)
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Warns of passwords and tokens that pass over the network in clear text.
    private func warn(_ agent: any ServedAgent) {
        if http?.active.configuration.users.isEmpty == false, !isSafe(options.http.listen, http) {
            agent.noteWebConfiguration(.clearText, at: .http)
        }
        guard let listen = options.control.listen, token != nil || control != nil, !isSafe(listen, control) else {
            return
        }
        agent.noteWebConfiguration(.clearText, at: .control)
    }

    private func isSafe(_ listen: String, _ security: PortSecurity?) -> Bool {
        security?.isEncrypted == true || ListenAddress(parsing: listen)?.isLoopback != false
    }

    func servers(of agent: any ServedAgent, _ logger: Logger) throws(AgentError) -> AgentServers.Run {
        var settings = ServerSettings(dashboards: options.http.dashboardsURL, allowedHosts: options.http.allowedHosts)
        settings.passwordCheck = Self.passwordCheck
        settings.catalogues = options.delivery.catalogues
        var ofHTTP = settings
        ofHTTP.security = http
        let admin = try HTTPServer(reading: agent, listen: options.http.listen, settings: ofHTTP, logger: logger)
        settings.pages = admin.pages
        var run = AgentServers.Run()
        run.metricsAddress = { await admin.boundAddress() }
        run.services = [
            admin,
            HTTPServer(agent: agent, socketPath: options.control.socket, settings: settings, logger: logger),
        ]
        if let listen = options.control.listen, token != nil || control != nil {
            var ofControl = settings
            ofControl.security = control
            var read: (@Sendable () async throws -> String)?
            if let token { read = { try Self.read(token, "control.token_file") } }
            if options.fleetOfMany != nil {
                ofControl.feeds = options.delivery.feedKeep == nil ? nil : .ofAccounts(agent)
            } else if let feedToken, let path = options.control.feedTokenFile {
                ofControl.feeds = FeedAddresses(
                    key: { _ in FeedKey(token: try Self.read(feedToken, "control.feed_token_file")) },
                    isFormer: { FeedTokenFile.isFormer($0, of: path) }
                )
            }
            run.services.append(
                try HTTPServer(agent: agent, listen: listen, token: read, settings: ofControl, logger: logger)
            )
        }
        return run
    }
}
