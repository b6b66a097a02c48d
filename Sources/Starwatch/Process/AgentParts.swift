import Foundation
import Logging
import StarwatchCore
import StarwatchPolling
import StarwatchTransport

/// Parts of an agent that do not depend on stored data.
///
/// They are made to run an agent, and to check whether one could run. A failed reload must not end the running agent.
struct AgentParts {
    let url: ServerURL
    let http: any HTTPTransport
    /// Makes the source of an account's tokens.
    let tokens: @Sendable () -> any TokenProvider
    let assumedDialect: Dialect
    /// The schedules, in the order of the polls.
    let schedules: [Schedule]
    /// The headers of the requests for lists, in the order of the polls.
    let headers: [[(name: String, value: String)]]
    /// The sinks, in the order of the configuration.
    let sinks: [any NotificationSink]
    /// The store of a sink of kind `feed`.
    let feed: Feed
    /// The signing keys of the database.
    let signingKeys = StoredSigningKeys()
    /// The digests, in the order of the configuration.
    let digests: [Digest]
    let callbacks: [CallbackReceiver]
    /// Empty unless `clock.source` is `ntp`.
    let timeServers: [NTPClient]

    /// - Throws: ``AgentError`` of kind `configuration` for the first unusable option or secret.
    ///
    /// - Parameters:
    ///   - dependencies: The network and the host program's parts.
    ///   - certificates: Gets the expiries of the sinks' certificates.
    ///   - droppedLines: The number of log lines that no reader took so far.
    init(
        _ options: AgentOptions,
        time: any TimeSource,
        dependencies: AgentDependencies,
        logger: Logger,
        certificates: CertificateMetrics? = nil,
        droppedLines: @escaping @Sendable () -> UInt64 = { 0 }
    ) throws(AgentError) {
        guard let url = ServerURL(options.server.url) else {
            throw AgentError(
                .configuration,
                "server.url must be an http or https URL without credentials, query or fragment."
            )
        }
        if let problem = options.problemsOfMany.first(where: { !$0.path.hasPrefix("delivery") }) {
            throw AgentError(.configuration, "\(problem.path) \(problem.message)")
        }
        self.url = url
        var schedules: [Schedule] = []
        for poll in options.polls { schedules.append(try Schedule(of: poll)) }
        self.schedules = schedules
        timeServers = try options.clock.timeServers(time: time)
        assumedDialect = options.assumedDialect
        feed = Feed(time: time)
        if let http = dependencies.http {
            self.http = http
        } else {
            self.http = dependencies.network(try Self.transport(to: url, options, time: time))
        }
        let secrets = SecretFiles.ofProcess
        do throws(AgentError) {
            var headers: [[(name: String, value: String)]] = []
            for poll in options.polls {
                headers.append(try secrets.headers(poll.json?.headersFile, of: "polls.\(poll.name)"))
            }
            self.headers = headers
            tokens = try TokenSource(options: options, secrets: secrets, signingKeys: signingKeys, time: time)
                .maker()
            sinks = try SinkFactory(
                delivery: options.delivery,
                takesAddresses: options.fleetOfMany != nil,
                http: self.http,
                certificates: certificates,
                secrets: secrets,
                feed: { [feed] in await feed.append($0, of: $1, keep: $2) },
                time: time,
                logger: logger,
                droppedLines: droppedLines
            ).sinks()
            let digests = DigestFactory(
                options: options,
                sinks: Set(options.delivery.sinks.map(\.name) + dependencies.sinks.map(\.name)),
                fetchers: dependencies.fetchers,
                http: self.http,
                secrets: secrets
            )
            self.digests = try digests.digests()
            callbacks = try digests.callbacks()
        } catch {
            self.http.shutdown()
            throw error
        }
    }

    static func transport(
        to url: ServerURL,
        _ options: AgentOptions,
        time: any TimeSource
    ) throws(AgentError) -> any HTTPTransport {
        let server = options.server
        let login = try SecretFiles.ofProcess.proxyLogin(server.proxyLoginFile, of: "server")
        do {
            var trust = HTTPClientOptions(caFile: server.caFile, pinnedPublicKey: server.pinnedPublicKey)
            trust.proxy = server.proxy
            trust.proxyLogin = login
            // Receivers that hang must not keep polls waiting.
            if options.fleetOfMany != nil { trust.maxInFlight += DeliverySlots.most }
            return try ServerTransport(to: url, trust: trust, time: time)
        } catch {
            throw AgentError(.configuration, error.description)
        }
    }

    /// Checks that tokens for `account` are possible, as far as this is known without requesting one.
    func validate(account: DID?) async throws(AgentError) {
        guard let account else { return }
        do throws(TokenError) {
            try await tokens().validate(account: account)
        } catch {
            throw AgentError(.configuration, error.description)
        }
    }

    /// Checks that an agent could run with `options` for `account`.
    static func check(
        _ options: AgentOptions,
        account: DID?,
        time: any TimeSource,
        dependencies: AgentDependencies,
        logger: Logger
    ) async throws(AgentError) {
        let parts = try AgentParts(options, time: time, dependencies: dependencies, logger: logger)
        defer { parts.http.shutdown() }
        try await parts.validate(account: account)
    }
}

extension Agent {
    /// Checks that an agent could run with `options`. It reads the secrets and makes every part, but opens, sends and
    /// writes nothing.
    ///
    /// It does not read the database, so it does not know, for example, an identity that was set later.
    ///
    /// - Parameters:
    ///   - sinks: The host program's sinks, which digests can name.
    ///   - fetchers: The host program's fetchers of digest content.
    /// - Throws: ``AgentError`` of kind `configuration` for the first unusable option or secret.
    public static func check(
        _ options: AgentOptions,
        sinks: [any HostSink] = [],
        fetchers: [any ContentFetcher] = []
    ) async throws(AgentError) {
        var dependencies = AgentDependencies()
        dependencies.sinks = sinks
        dependencies.fetchers = fetchers
        try await AgentParts.check(
            options,
            account: options.initialIdentity,
            time: SystemClock(),
            dependencies: dependencies,
            logger: Logger(label: "starwatch", factory: { _ in SwiftLogNoOpLogHandler() })
        )
    }
}

extension OptionWarning {
    /// Returns the warnings about valid options.
    ///
    /// - Parameter facts: What is known already.
    package static func found(in options: AgentOptions, _ facts: Facts = Facts()) async -> [OptionWarning] {
        all(in: options, await facts.completed(for: options))
    }
}

extension OptionWarning.Facts {
    /// Adds what the key file, the schedules, the database's folder and the process tell.
    package func completed(for options: AgentOptions) async -> OptionWarning.Facts {
        var facts = self
        if options.auth.kind == .didKey, let path = options.auth.keyFile {
            let directory = SecretFiles.ofProcess.credentialsDirectory
            var file = SecretFile(
                path: path,
                setting: "auth.key_file",
                holding: .text,
                credentialsDirectory: directory
            )
            facts.keyDID = try? SigningKeyContent.did(of: file.read(), setting: "auth.key_file")
        }
        let now = SystemClock().now
        for poll in options.polls { facts.longestGaps[poll.name] = (try? Schedule(of: poll))?.longestGap(from: now) }
        let folder = URL(fileURLWithPath: options.storage.path).deletingLastPathComponent().path
        var isDirectory: ObjCBool = false
        facts.hasStorageFolder =
            FileManager.default.fileExists(atPath: folder, isDirectory: &isDirectory) && isDirectory.boolValue
        facts.openFiles = OpenFiles.limit
        let zones = options.namedZones.map(\.zone)
        facts.bundledZones = Set(
            zones.filter { (try? ZoneDatabase.ofMachine.zone($0) as? NamedZone)?.isBundled == true }
        )
        do throws(ZoneError) { _ = try LocalZone.ofMachine.find() } catch { facts.localZoneProblem = error.description }
        return facts
    }
}
