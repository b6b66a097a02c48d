import Glibc
import Starwatch
import StarwatchHTTP

/// The access of a command to an agent.
struct AgentAccess: Sendable {
    /// The value of `--config`.
    var config: String?
    /// The value of `--socket`.
    var socket: String?
    /// The value of `--timeout`; `nil` for the verb's own.
    var timeout: Duration?
    /// The value of `--account`.
    var account: DID?
    var loader = ConfigurationLoader()
    var notes = SocketNotes()
    /// Whether an agent in the foreground keeps its log from standard error.
    var isQuiet = false

    /// The wait for an agent that waits for a lock on its database, which takes it five seconds.
    static let lockWait = Duration.seconds(6)

    /// The same for an agent that waits for a lock on its database.
    var hurried: AgentAccess {
        var access = self
        access.timeout = timeout ?? Self.lockWait
        return access
    }

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

    /// Loads the configuration for a command that runs its programs, which only root and the agent's user can change.
    func trustedConfiguration(secrets: Bool = true) throws(CommandError) -> LoadedConfiguration {
        let configuration = try configuration(secrets: secrets)
        do throws(ConfigurationFailure) { try configuration.checkTrust() } catch { throw .configuration(error) }
        return configuration
    }

    /// Reloads the configuration for a running agent.
    ///
    /// - Throws: ``AgentError`` with the first problem and the number of others.
    func reloadedOptions() throws(AgentError) -> AgentOptions {
        do throws(CommandError) {
            return try trustedConfiguration().options
        } catch .configuration(let failure) {
            throw AgentError(failure)
        } catch {
            throw AgentError(.configuration, "The configuration file is gone; put it back.")
        }
    }

    /// Returns the agent behind `--socket` or behind the configured socket, whether or not it runs.
    ///
    /// If the configuration has errors, it is the agent that runs with the last good one, and a line on standard error
    /// shows each error.
    ///
    /// - Parameter saysMistakes: `false` for no such lines.
    func running(saysMistakes: Bool = true) throws(CommandError) -> ControlClient {
        if let socket = socket ?? AgentUser.became?.control.socket {
            return client(socket)
        }
        do throws(CommandError) {
            let options = try configuration(secrets: false).options
            return client(options.control.socket)
        } catch .configuration(let failure) {
            let noted = notes.note(of: loader.absolute(failure.file))
            guard let noted, ControlSocket.hasListener(at: noted.socket) else { throw .configuration(failure) }
            for line in failure.lines(as: "error, so the agent keeps its former configuration") where saysMistakes {
                StandardError.sayOnce(line)
            }
            return client(noted.socket)
        }
    }

    private func client(_ path: String) -> ControlClient {
        var client = ControlClient(socketPath: path, timeout: timeout)
        client.account = account
        return client
    }

    /// The user of the command, with the account that it names.
    private var caller: Operator {
        var caller = Operator.user(geteuid(), by: .command)
        caller.account = account
        return caller
    }

    /// Returns the database of the agent, and the control socket if it is known.
    ///
    /// If the configuration has errors, it is the database of the agent that runs with the last good one, or that ran with it
    /// and was killed. A line on standard error shows each error.
    ///
    /// - Parameter named: The value of `--database`.
    func database(_ named: String?) throws(CommandError) -> SocketNotes.Note {
        do throws(CommandError) {
            let options = try configuration(secrets: false).options
            let isConfigured = named.map { loader.absolute($0) == loader.absolute(options.storage.path) } ?? true
            return (isConfigured ? options.control.socket : "", named ?? options.storage.path)
        } catch {
            if let named { return ("", named) }
            guard case .configuration(let failure) = error,
                let note = notes.note(of: loader.absolute(failure.file)), note.database != nil
            else { throw error.advisingDatabase }
            for line in failure.lines(as: "error, so this is of the agent's former configuration") {
                StandardError.sayOnce(line)
            }
            return note
        }
    }

    /// Performs a verb with the running agent. If there is none, it uses an agent in the foreground, which it then closes.
    /// A verb that only reads is read from the database if the agent does not answer.
    ///
    /// With `--socket`, it only uses the agent on that socket. A failure after the connection is an error, because the
    /// agent can have done the work.
    func perform<Input, Answer>(_ verb: Verb<Input, Answer>, _ input: Input) async throws -> Answer {
        let running = try running()
        do {
            return try await running.perform(verb, input)
        } catch {
            guard socket == nil else { throw error }
            switch error.kind {
            case .unreachable: return try await performHere(verb, input)
            case .timedOut where verb.reads:
                let note =
                    "The agent does not answer, so this is from its database, without what it has not stored yet."
                return try await read(verb, input, insteadOf: error, note: note)
            default: throw error
            }
        }
    }

    private func performHere<Input, Answer>(_ verb: Verb<Input, Answer>, _ input: Input) async throws -> Answer {
        let options: AgentOptions
        if let known = AgentUser.became {
            options = known
        } else {
            options = try await AgentUser.become(for: trustedConfiguration().options)
        }
        // The first start creates the database, not who looks into it.
        let path = options.storage.path
        guard !verb.reads || access(path, F_OK) == 0 || errno != ENOENT else {
            throw CommandError.failed("There is no database at \(path), so nothing can be read; start the agent first.")
        }
        let agent: Agent
        do {
            // After an unclean end it checks the whole database first, because nothing would look for damage later.
            agent = try await Agent(options: options, time: SystemClock(), logSinks: isQuiet ? [] : nil)
        } catch {
            guard verb.reads else { throw error }
            let note = "\(error.message). This is what can still be read."
            return try await read(verb, input, options, insteadOf: error, note: note)
        }
        return try await agent.once { agent throws(ControlError) in
            try await agent.topics.perform(verb, input, for: caller)
        }
    }

    /// Performs a verb that reads beside the agent that has the database open.
    ///
    /// - Parameters:
    ///   - options: The options, if they are known.
    ///   - failure: The error if the database cannot be read.
    ///   - note: Says on standard error where the answer comes from.
    private func read<Input, Answer>(
        _ verb: Verb<Input, Answer>,
        _ input: Input,
        _ options: AgentOptions? = nil,
        insteadOf failure: any Error,
        note: String
    ) async throws -> Answer {
        guard let found = try? options ?? trustedConfiguration(secrets: false).options,
            let options = try? await AgentUser.become(for: found), let agent = try? await Agent(reading: options)
        else { throw failure }
        let answer: Answer
        do throws(ControlError) {
            answer = try await agent.once { agent throws(ControlError) in
                try await agent.topics.perform(verb, input, for: caller)
            }
        } catch {
            // Only the database's own failure gives way to the first one.
            throw error.kind == .failed ? failure : error
        }
        StandardError.sayOnce("starwatch: \(note)")
        return answer
    }
}
