import Glibc
import Starwatch

/// The access of a command to an agent.
struct AgentAccess: Sendable {
    /// The value of `--config`.
    var config: String?
    /// The value of `--socket`.
    var socket: String?
    var loader = ConfigurationLoader()

    /// Loads the configuration that `--config` or the usual places name.
    ///
    /// - Parameter secrets: `false` if the command needs none. The files of secrets are then not looked at.
    func configuration(secrets: Bool = true) throws(CommandError) -> LoadedConfiguration {
        var loader = loader
        loader.checksSecrets = secrets
        guard let file = loader.find(config) else { throw .noConfiguration }
        do throws(ConfigurationFailure) {
            return try loader.load(file: file)
        } catch {
            throw .configuration(error)
        }
    }

    /// Reloads the configuration for a running agent.
    ///
    /// - Throws: ``AgentError`` with the first problem and the number of others.
    func reloadedOptions() throws(AgentError) -> AgentOptions {
        do throws(CommandError) {
            return try configuration().options
        } catch .configuration(let failure) {
            throw AgentError(failure)
        } catch {
            throw AgentError(.configuration, "The configuration file is gone; put it back.")
        }
    }

    /// Returns the agent behind `--socket` or behind the configured socket, whether or not it runs.
    func running() throws(CommandError) -> ControlClient {
        if let socket { return ControlClient(socketPath: socket) }
        return ControlClient(socketPath: try configuration(secrets: false).options.control.socket)
    }

    /// Performs a verb with the running agent. If there is none, it uses an agent in the foreground, which it then closes.
    ///
    /// With `--socket`, it only uses the agent on that socket. A failure after the connection is an error, because the
    /// agent can have done the work.
    func perform<Input, Answer>(_ verb: Verb<Input, Answer>, _ input: Input) async throws -> Answer {
        let running = try running()
        do {
            return try await running.perform(verb, input)
        } catch {
            guard error.kind == .unreachable, socket == nil else { throw error }
            // After an unclean end it checks the whole database first, because nothing would look for damage later.
            let agent = try await Agent(options: configuration().options, time: SystemClock())
            return try await agent.once { agent throws(ControlError) in
                try await agent.topics.perform(verb, input, for: .user(geteuid(), by: .command))
            }
        }
    }
}
