import Foundation
package import StarwatchCore
import StarwatchPolling
import StarwatchStore
import StarwatchTelemetry
import StarwatchTransport
import Synchronization

/// A trial of a configuration against the real server and the real sinks.
///
/// It is made by an agent with a database of its own in a temporary folder, which is deleted at the end. A trial stores
/// nothing else and acknowledges nothing.
package enum Trial {
    package struct Polls: Sendable, Hashable {
        package var reports: [PollReport] = []
        /// The status of the agent after the polls.
        package var status: AgentStatus
        /// The end of the one request of a trial without a token; `nil` if the polls were tried.
        package var reach: Reach?
    }

    /// The longest time for one request. Nobody waits longer for an answer on a terminal.
    private static let longestRequest = Duration.seconds(10)

    /// Runs one cycle of every poll.
    ///
    /// - Throws: ``AgentError`` of kind `configuration` if an option, a secret or the identity is unusable.
    package static func polls(_ options: AgentOptions) async throws(AgentError) -> Polls {
        var options = options
        options.delivery.sinks = [SinkOptions(name: "log", kind: .log)]
        options.server.timeout = min(options.server.timeout, longestRequest)
        // The newest changes only, of which a first run makes no notifications.
        for index in options.polls.indices { options.polls[index].bootstrap = .latest }
        return try await with(options, logSinks: []) { agent throws(ControlError) in
            var polls = Polls(status: await agent.state())
            for poll in options.polls {
                polls.reports.append(try await agent.perform(ControlAPI.runPoll, PollRun(poll.name.rawValue)))
            }
            polls.status = await agent.state()
            return polls
        }
    }

    /// Tries whether the server answers, for a caller that has no token. A poll without one would be refused, and nobody may
    /// see whose stars it names; so this requests the server's own address alone.
    ///
    /// - Throws: ``AgentError`` of kind `configuration` if an option is unusable.
    package static func reach(_ options: AgentOptions) async throws(AgentError) -> Polls {
        var tried = options
        (tried.auth, tried.polls) = (AuthOptions(), [])
        tried.delivery.sinks = [SinkOptions(name: "log", kind: .log)]
        return try await with(tried, logSinks: []) { agent throws(ControlError) in
            let http = agent.runtime.account.api.client.http
            let limit = min(options.server.timeout, longestRequest)
            let reach = await Reach.answer(of: options.server.url, by: http, within: limit)
            var polls = Polls(status: await agent.state())
            polls.reach = reach
            polls.reports = options.polls.map { poll in
                var report = PollReport(poll: poll.name.rawValue, outcome: "skipped", runID: RandomID.runID())
                report.cause = FailureReason(.noToken).description
                return report
            }
            return polls
        }
    }

    /// Sends test notifications to one sink. A sink of kind `log` writes them to standard error, and nothing else is logged.
    ///
    /// - Throws: ``AgentError``, of kind `configuration` if the sink's secret is unusable, and `failed` if there is no such
    ///   sink.
    package static func sink(_ name: String, of options: AgentOptions) async throws(AgentError) -> SinkTestReport {
        guard let sink = options.delivery.sinks.first(where: { $0.name == name }) else {
            let names = options.delivery.sinks.map(\.name).joined(separator: ", ")
            throw AgentError(.failed, "There is no sink of that name; the sinks are \(names).")
        }
        guard !sink.isOfAccounts else {
            throw AgentError(
                .failed,
                "Each account brings the address of this sink; start the agent, and name an account with --account."
            )
        }
        var options = options
        options.delivery.sinks = [sink]
        // A trial of a sink needs no token.
        options.auth = AuthOptions()
        options.polls = []
        return try await with(options, logSinks: sink.kind == .log ? nil : []) { agent throws(ControlError) in
            try await agent.perform(ControlAPI.testSink, name)
        }
    }

    /// Returns the DID of a private key.
    ///
    /// - Parameter content: 64 hexadecimal digits, or PEM.
    /// - Throws: ``AgentError`` that says what the content must be.
    package static func did(ofKey content: [UInt8]) throws(AgentError) -> DID {
        do throws(TokenError) {
            return try SigningKeyContent.did(of: content, setting: "--key-file")
        } catch { throw AgentError(.configuration, error.description) }
    }

    private static func with<Answer: Sendable>(
        _ options: AgentOptions,
        logSinks: [any LogSink]?,
        _ work: (Agent) async throws(ControlError) -> Answer
    ) async throws(AgentError) -> Answer {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        var options = options
        options.storage = StorageOptions()
        options.storage.path = folder.path + "/trial.db"
        (options.digests, options.callbacks) = ([], CallbackOptions())
        var parts = AgentDependencies()
        parts.loggedEvent = .notification
        let agent = try await Agent(options: options, time: SystemClock(), logSinks: logSinks, dependencies: parts)
        do throws(ControlError) { return try await agent.once(work) } catch {
            throw AgentError(.failed, error.message)
        }
    }
}

/// A check of the database's pages and keys, beside an agent that can have it open.
package enum DatabaseTrial: Sendable, Hashable {
    case sound
    /// There is no file yet.
    case absent
    /// An older version made it, and the next start updates it.
    case older
    /// The sentence says what to do.
    case failed(String)

    /// The time for which a lock is watched. A transaction of the agent takes milliseconds.
    private static let watched = Duration.seconds(1)

    /// Returns the program that keeps a database locked for writing, as `sqlite3, pid 12`; `nil` if none does. The agent's own
    /// transactions do not count.
    package static func holder(of options: AgentOptions, time: any TimeSource) async -> String? {
        let steps = 5
        var holder: LockHolder?
        for step in 0...steps {
            guard let found = LockHolder.writing(to: options.storage.path), found.program != "starwatch",
                step == 0 || found == holder
            else { return nil }
            holder = found
            if step < steps { try? await time.sleep(for: watched / steps) }
        }
        return holder?.description
    }

    package static func of(_ options: AgentOptions) async -> DatabaseTrial {
        var store = StoreOptions(options.storage)
        do {
            store.masterKey = try await MasterKeySource(options: options.security, time: SystemClock()).read()
            try await store.checkDatabase()
            return .sound
        } catch {
            switch error {
            case StoreError.absent: return .absent
            case StoreError.version(let found, let supported, _)
            where found < supported.lowerBound && options.storage.owner == .agent:
                return .older
            case let error as StoreError: return .failed(error.description)
            default: return .failed((error as? AgentError)?.message ?? "\(error)")
            }
        }
    }
}

/// A folder that only this user can use, deleted by ``remove()`` or when SIGINT, SIGTERM or SIGHUP ends the program.
package struct TemporaryFolder: Sendable {
    package let path: String

    package init() throws(AgentError) {
        let url = FileManager.default.temporaryDirectory.appending(path: "starwatch-" + RandomID.uuid())
        path = url.path
        Self.watchSignals()
        _ = Self.folders.withLock { $0.insert(url.path) }
        do {
            try FileManager.default.createDirectory(
                at: url,
                withIntermediateDirectories: false,
                attributes: [.posixPermissions: 0o700]
            )
        } catch {
            throw AgentError(.failed, "No folder can be created in \(url.deletingLastPathComponent().path).")
        }
    }

    package func remove() {
        try? FileManager.default.removeItem(atPath: path)
        _ = Self.folders.withLock { $0.remove(path) }
    }

    private static let folders = Mutex<Set<String>>([])
    private static let sources = Mutex<[any DispatchSourceSignal]>([])

    /// Deletes the folders when a signal ends the program. They can contain a copy of a key.
    private static func watchSignals() {
        sources.withLock { sources in
            guard sources.isEmpty else { return }
            sources = [SIGINT, SIGTERM, SIGHUP].map { number in
                signal(number, SIG_IGN)
                let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
                source.setEventHandler {
                    for path in folders.withLock({ $0 }) { try? FileManager.default.removeItem(atPath: path) }
                    _exit(128 + number)
                }
                source.activate()
                return source
            }
        }
    }
}
