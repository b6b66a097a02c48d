import Starwatch
import StarwatchHTTP

/// The way from a command to an agent.
struct AgentAccess: Sendable {
    /// `--config`, as it was given.
    var config: String?
    /// `--socket`, as it was given.
    var socket: String?
    var loader = ConfigurationLoader()

    /// The configuration that `--config` or the usual places name.
    func configuration() throws(CommandError) -> LoadedConfiguration {
        guard let file = loader.find(config) else { throw .noConfiguration }
        do throws(ConfigurationFailure) {
            return try loader.load(file: file)
        } catch {
            throw .configuration(error)
        }
    }

    /// The configuration once more, for an agent that runs.
    ///
    /// - Throws: ``AgentError`` with the first problem and the number of others.
    func reloadedOptions() throws(AgentError) -> AgentOptions {
        do throws(CommandError) {
            return try configuration().options
        } catch .configuration(let failure) {
            let others = failure.problems.count - 1
            let more = others > 0 ? " There is more to correct (\(others)): see 'starwatch check'." : ""
            throw AgentError(.configuration, (failure.lines.first ?? "") + more)
        } catch {
            throw AgentError(.configuration, "The configuration file is gone; put it back.")
        }
    }

    /// The agent behind `--socket`, or behind the socket that the configuration names; it may not run.
    func running() throws(CommandError) -> RunningAgent {
        if let socket { return RunningAgent(socketPath: socket) }
        return RunningAgent(socketPath: try configuration().options.control.socket)
    }

    /// Does `work` through the running agent if there is one, else on the database, which is closed afterwards.
    ///
    /// `--socket` means that running agent and no other. A connection that was made and then failed is an error:
    /// the agent may have done the work.
    func perform<Answer: Sendable>(
        _ work: (any AgentOperations) async throws(CommandError) -> Answer
    ) async throws(CommandError) -> Answer {
        if socket != nil { return try await work(running()) }
        let options = try configuration().options
        do throws(CommandError) {
            return try await work(RunningAgent(socketPath: options.control.socket))
        } catch .client(.unreachable) {
            return try await performHere(options, work)
        }
    }

    private func performHere<Answer: Sendable>(
        _ options: AgentOptions,
        _ work: (any AgentOperations) async throws(CommandError) -> Answer
    ) async throws(CommandError) -> Answer {
        let agent = try await ForegroundAgent(options: options)
        do throws(CommandError) {
            let answer = try await work(agent)
            await agent.close()
            return answer
        } catch {
            await agent.close()
            throw error
        }
    }
}
