import Glibc
import Starwatch
import StarwatchCore

/// The checks of an installation, one after the other.
struct Doctor {
    let access: AgentAccess
    /// The URL of the Prometheus server whose rules are checked; `nil` checks none.
    let prometheus: String?

    /// Checks everything, or the running agent alone if the configuration cannot be read, or names a program that others
    /// can change.
    ///
    /// - Throws: ``CommandError`` for a socket that cannot be one.
    func report() async throws(CommandError) -> DoctorReport {
        var (configuration, hasSecrets): (LoadedConfiguration, Bool)
        do throws(CommandError) {
            (configuration, hasSecrets) = (try access.trustedConfiguration(secrets: false), false)
        } catch {
            return DoctorReport(findings: await withoutConfiguration(error))
        }
        let holder = await DatabaseTrial.holder(of: configuration.options, time: SystemClock())
        let agent = try (holder == nil ? access : access.hurried).running()
        let status = await Self.status(of: agent)
        let files = InstalledFiles(configuration: configuration.file, options: configuration.options)
        var findings: [Finding] = []
        do throws(CommandError) {
            configuration = try access.trustedConfiguration()
            hasSecrets = true
            findings = [Finding("configuration", .ok, "\(configuration.file) is valid.")]
        } catch {
            // systemd can pass secrets to the service alone. Then they are not here, and the agent runs.
            let isForService = (try? status.get()) != nil && error.lines.count == files.absentSecrets
            findings = error.lines.map { Finding("configuration", isForService ? .warning : .problem, $0) }
        }
        let options = configuration.options
        // A database that exists has its own identity and stars.
        let warnings = await OptionWarning.found(in: options, configuration.facts)
            .filter { !$0.isOfSeed || files.database == nil }
        findings += configuration.problems(of: warnings).map {
            Finding("configuration", .warning, $0.description(file: configuration.file))
        }
        findings += files.findings
        findings.append(Finding.database(await DatabaseTrial.of(options), lockedBy: holder))
        let running = (try? status.get()).map {
            AgentFindings(status: $0, options: options, isEncrypted: configuration.hasTLS(.http))
        }
        switch status {
        case .success: findings += running?.agent ?? []
        case .failure(let error) where holder != nil && error.kind == .timedOut:
            findings.append(Finding("agent", .problem, "It does not answer while it waits for that lock."))
        case .failure(let error): findings.append(Finding("agent", .problem, error.message))
        }
        findings += await server(
            options,
            hasSecrets: hasSecrets,
            // A trial poll stores something, so it would wait for the lock.
            agent: running == nil || holder != nil ? nil : agent,
            try? status.get()
        )
        for sink in options.delivery.sinks { findings.append(await self.sink(sink, options, running)) }
        if let running { findings += running.certificates + [running.scraping] }
        findings.append(await rules())
        findings.append(await alerting())
        return DoctorReport(findings: findings)
    }

    private func withoutConfiguration(_ error: CommandError) async -> [Finding] {
        var findings = error.sentences.map { Finding("configuration", .problem, $0) }
        if let agent = try? access.running(), let status = try? await agent.perform(ControlAPI.status) {
            findings += AgentFindings(status: status, options: AgentOptions()).agent
        }
        return findings
    }

    private static func status(of agent: ControlClient) async -> Result<AgentStatus, ControlError> {
        do throws(ControlError) { return .success(try await agent.perform(ControlAPI.status)) } catch {
            return .failure(error)
        }
    }

    /// - Parameter agent: The running agent, which knows who is signed in and has the token; `nil` if none runs.
    private func server(
        _ configured: AgentOptions,
        hasSecrets: Bool,
        agent: ControlClient?,
        _ status: AgentStatus?
    ) async -> [Finding] {
        var options = configured
        // A try needs none of many accounts.
        options.accounts = .one
        var own: [String: PollReport] = [:]
        if let agent {
            options.initialIdentity = (try? await agent.perform(ControlAPI.showIdentity).did).flatMap { DID($0) }
            let stars = (try? await agent.perform(ControlAPI.listStars).planIDs) ?? []
            for index in options.polls.indices where options.polls[index].kind.needsStars {
                options.polls[index].planIDs = stars
            }
            // An older agent cannot try, and another configuration can have other polls.
            for name in options.polls.map(\.name.rawValue) {
                own[name] = try? await agent.perform(ControlAPI.tryPoll, name)
            }
        }
        let hasToken = options.auth.kind == .none || hasSecrets && !options.tokens.storedKeys
        do throws(AgentError) {
            var trial = try await hasToken ? Trial.polls(options) : Trial.reach(options)
            trial.status.server.dialect = trial.status.server.dialect ?? status?.server.dialect
            if !hasToken, let clock = status?.clock { trial.status.clock = clock }
            return ServerFindings(trial: trial, options: configured, own: own).all
        } catch {
            return [Finding("server", .problem, error.message)]
        }
    }

    private var configurationPath: String { access.loader.find(access.config).map(access.loader.absolute) ?? "" }

    private func sink(_ sink: SinkOptions, _ options: AgentOptions, _ running: AgentFindings?) async -> Finding {
        let area = "sink \(sink.name)"
        if let user = AgentUser.other(options, configuration: configurationPath),
            let problem = AgentUser.problem(of: sink, as: user)
        {
            return Finding(area, .problem, problem)
        }
        let reach = await Reach.of(sink)
        if let failure = reach.failure { return Finding(area, .problem, failure.sentence) }
        if let finding = running?.sink(sink.name) { return finding }
        if reach == .ofAccounts {
            let test = "'starwatch sinks test \(sink.name) --account DID' delivers to one."
            return Finding(area, .ok, "Each account brings its address; \(test)")
        }
        let test = "'starwatch sinks test \(sink.name)' delivers to it."
        guard case .answered(let status) = reach else { return Finding(area, .ok, "It is ready; \(test)") }
        return Self.finding(area, status: status, test)
    }

    /// The finding about a sink that answered a GET request. Many sinks accept POST alone, so a refusal shows that
    /// something answers, and neither that notifications arrive nor that they do not.
    static func finding(_ area: String, status: Int, _ test: String) -> Finding {
        (200..<400).contains(status)
            ? Finding(area, .ok, "It can be reached (HTTP \(status) to a GET request); \(test)")
            : Finding(
                area,
                .skipped,
                "Something answers (HTTP \(status) to a GET request), and no more is known; \(test)"
            )
    }

    private func alerting() async -> Finding {
        .alerting(
            await answer { server throws(AgentError) in
                try await PrometheusQuery.alerting(of: Finding.alertingJob, at: server)
            }
        )
    }

    private func rules() async -> Finding {
        .rules(
            loaded: await answer { server throws(AgentError) in
                try await PrometheusQuery.value(of: Finding.rulesQuery, at: server)
            }
        )
    }

    /// The answer of the Prometheus server; `nil` if none is named.
    private func answer<Value>(
        _ ask: (_ server: String) async throws(AgentError) -> Value
    ) async -> Result<Value, AgentError>? {
        guard let prometheus else { return nil }
        do throws(AgentError) { return .success(try await ask(prometheus)) } catch { return .failure(error) }
    }
}

extension Finding {
    /// The finding about the database's file.
    ///
    /// - Parameter holder: The program that keeps the database locked, as `sqlite3, pid 12`; `nil` for none.
    static func database(_ trial: DatabaseTrial, lockedBy holder: String? = nil) -> Finding {
        let (state, text): (State, String) =
            switch trial {
            case .sound: (.ok, "Every page of the database is sound.")
            case .absent: (.skipped, "There is no database yet; the agent's first start creates it.")
            case .older: (.ok, "Every page of the database is sound; the next start updates its schema.")
            case .failed(let sentence):
                (
                    .problem,
                    sentence.prefix(1).uppercased() + sentence.dropFirst() + (sentence.hasSuffix(".") ? "" : ".")
                )
            }
        guard state == .ok, let holder else { return Finding("database", state, text) }
        let advice = "End its transaction, or the program; the agent then resumes by itself."
        return Finding("database", .problem, "Another program holds a lock on the database: \(holder). \(advice)")
    }
}
