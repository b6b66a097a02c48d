package import StarwatchCore
import StarwatchTelemetry
import StarwatchTransport

/// A trial of a configuration against the real server and the real sinks.
///
/// It is made by an agent with a database of its own in a temporary folder, which is deleted at the end. A trial stores
/// nothing else and acknowledges nothing.
package enum Trial {
    /// The results of polls.
    package struct Polls: Sendable, Hashable {
        package var reports: [PollReport] = []
        /// The status of the agent after the polls.
        package var status: AgentStatus
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

    /// Sends a test notification to one sink. A sink of kind `log` writes it to standard error, and nothing else is logged.
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
            return try DIDKeyTokenProvider.did(ofKey: content, setting: "--key-file")
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
