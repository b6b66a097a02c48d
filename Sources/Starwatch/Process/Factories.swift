import Logging
import StarwatchCore
import StarwatchTransport
import Subprocess

/// Creates the parts of an agent that depend on the configuration.
struct Factories {
    let options: AgentOptions
    let http: any HTTPTransport
    let time: any TimeSource
    let logger: Logger
    /// The number of log lines that no reader took so far.
    let droppedLines: @Sendable () -> UInt64
    /// The value of `$CREDENTIALS_DIRECTORY`.
    let credentialsDirectory: String?
    let feed: Feed
    /// The source of keys if `auth.stored_keys` is set.
    let signingKeys: StoredSigningKeys

    /// The source of tokens.
    func tokenProvider() throws(AgentError) -> any TokenProvider {
        TokenMemory(of: try ownTokenProvider(), monotonic: { [time] in time.monotonic })
    }

    private func ownTokenProvider() throws(AgentError) -> any TokenProvider {
        let auth = options.auth
        if auth.storedKeys { return try storedKeys(auth) }
        switch auth.kind {
        case .none: return AnonymousTokenProvider()
        case .sharedSecret:
            return SharedSecretTokenProvider(
                file: try secret(auth.secretFile, "auth.secret_file"),
                lifetime: auth.lifetime ?? .seconds(3600),
                refreshBefore: auth.refreshBefore
            )
        case .didKey:
            return DIDKeyTokenProvider(
                file: try secret(auth.keyFile, "auth.key_file"),
                lifetime: auth.lifetime ?? .seconds(60),
                refreshBefore: auth.refreshBefore
            )
        case .tokenPool:
            return TokenPoolProvider(file: try secret(auth.tokensFile, "auth.tokens_file"))
        case .command:
            guard let argv = auth.argv, !argv.isEmpty else {
                throw AgentError(.configuration, "auth.kind command needs auth.argv, the program and its arguments.")
            }
            return CommandTokenProvider(
                argv: argv,
                lifetime: auth.lifetime ?? .seconds(3600),
                refreshBefore: auth.refreshBefore,
                runCommand: { [timeout = options.server.timeout, time] argv in
                    try await Self.output(of: argv, within: timeout, time: time)
                }
            )
        }
    }

    /// The source of tokens that are signed with keys of the database.
    private func storedKeys(_ auth: AuthOptions) throws(AgentError) -> any TokenProvider {
        guard let algorithm = auth.signingAlgorithm else {
            throw AgentError(.configuration, "auth.stored_keys needs auth.kind shared_secret or did_key.")
        }
        guard auth.secretFile == nil, auth.keyFile == nil else {
            throw AgentError(.configuration, "auth.stored_keys excludes auth.secret_file and auth.key_file.")
        }
        guard options.security.masterKeyFile != nil || options.security.masterKeyCommand != nil else {
            throw AgentError(.configuration, "auth.stored_keys needs a master key, as security.master_key_file.")
        }
        return StoredKeyTokenProvider(
            algorithm: algorithm,
            source: signingKeys,
            lifetime: auth.lifetime ?? (algorithm == .hs256 ? .seconds(3600) : .seconds(60)),
            refreshBefore: auth.refreshBefore
        )
    }

    func sink(_ sink: SinkOptions) throws(AgentError) -> any NotificationSink {
        switch sink.kind {
        case .stdout: StdoutSink(name: sink.name)
        case .log: LogEntrySink(name: sink.name, logger: logger, droppedLines: droppedLines)
        case .feed(let keep): FeedSink(name: sink.name, keep: keep, feed: feed)
        case .file(let path): FileSink(name: sink.name, path: path, others: otherFiles(than: sink))
        case .webhook(let url, let secretFile, let timeout):
            WebhookSink(
                name: sink.name,
                url: url,
                timeout: timeout,
                http: try client(of: sink),
                time: time,
                secret: try secretFile.map { path throws(AgentError) in
                    let setting = "delivery.sinks.\(sink.name).secret_file"
                    return try secret(path, setting) { bytes throws(AgentError) in
                        guard WebhookSigner(file: bytes) == nil else { return }
                        throw AgentError(
                            .configuration,
                            "\(setting) must hold the secret's bytes, or lines of whsec_ and then a secret in base64."
                        )
                    }
                }
            )
        case .ntfy(let url, let topic, let tokenFile):
            NtfySink(
                name: sink.name,
                url: url,
                topic: topic,
                http: try client(of: sink),
                time: time,
                token: try tokenFile.map { path throws(AgentError) in
                    try secret(path, "delivery.sinks.\(sink.name).token_file")
                }
            )
        case .command(let argv, let timeout): CommandSink(name: sink.name, argv: argv, timeout: timeout, time: time)
        }
    }

    /// The client of a sink that sends requests. One with its own trust anchors has its own connections, which end with
    /// the sink.
    private func client(of sink: SinkOptions) throws(AgentError) -> any HTTPTransport {
        guard let trust = sink.trust else { return http }
        do { return try HTTPClient(options: trust, time: time) } catch {
            throw AgentError(.configuration, error.description)
        }
    }

    private func otherFiles(than sink: SinkOptions) -> [String] {
        options.delivery.sinks.compactMap { other in
            guard other.name != sink.name, case .file(let path) = other.kind else { return nil }
            return path
        }
    }

    static func schedule(_ poll: PollOptions) throws(AgentError) -> Schedule {
        do throws(PollTimingError) { return try Schedule(poll.timing) } catch {
            let setting = error == .unknownZone ? "timezone" : "schedule"
            let path = "polls.\(poll.name).\(setting)"
            throw AgentError(
                .configuration,
                error == .unknownZone ? "\(path) is not a known IANA zone, such as Europe/Zurich." : "\(path): \(error)"
            )
        }
    }

    /// The time server's client, if the clock is measured against one.
    static func ntpClient(_ clock: ClockOptions, time: any TimeSource) throws(AgentError) -> NTPClient? {
        guard clock.source == .ntp else { return nil }
        guard let address = clock.ntpServer.flatMap(TimeServerAddress.init) else {
            throw AgentError(.configuration, "clock.source ntp needs clock.ntp_server, HOST or HOST:PORT.")
        }
        return NTPClient(
            host: address.host,
            port: address.port,
            clock: { StarwatchTransport.ClockReading(wall: time.now, monotonic: time.monotonic) }
        )
    }

    /// A secret's file, after a check that it is usable.
    func secret(
        _ path: String?,
        _ setting: String,
        check: ([UInt8]) throws(AgentError) -> Void = { _ in }
    ) throws(AgentError) -> SecretFile {
        guard let path else { throw AgentError(.configuration, "\(setting) is missing.") }
        let file = SecretFile(path: path, setting: setting, credentialsDirectory: credentialsDirectory)
        var probe = file
        let bytes: [UInt8]
        do { bytes = try probe.read() } catch { throw AgentError(.configuration, error.description) }
        try check(bytes)
        return file
    }

    /// The program's output. The program is ended after `timeout`, because a poll waits for it.
    static func output(
        of argv: [String],
        within timeout: Duration,
        time: any TimeSource
    ) async throws -> String {
        try await withThrowingTaskGroup(of: String.self) { group in
            group.addTask {
                let result = try await Subprocess.run(
                    .program(argv[0]),
                    arguments: Arguments(Array(argv.dropFirst())),
                    environment: .limited,
                    platformOptions: .ownGroup,
                    output: .string(limit: 65_536),
                    error: .discarded
                )
                guard result.terminationStatus.isSuccess else { throw TokenError.commandFailed }
                return result.standardOutput
            }
            group.addTask {
                try await time.sleep(for: timeout)
                throw TokenError.commandFailed
            }
            defer { group.cancelAll() }
            return try await group.next()!
        }
    }
}
