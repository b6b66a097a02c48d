import Starwatch
import StarwatchHTTP

/// Why a command did not do what it was asked. Each has its exit code and its sentence.
enum CommandError: Error, Sendable {
    /// No file was named, and none is in the usual places.
    case noConfiguration
    case configuration(ConfigurationFailure)
    /// Arguments that parse and still make no sense.
    case usage(String)
    case agent(AgentError)
    /// The agent refused.
    case control(ControlError)
    /// The agent did not answer.
    case client(ControlClientError)
    /// The agent answers and is degraded; what is wrong has been printed.
    case degraded
    /// A poll cycle failed; its report has been printed.
    case pollFailed
    /// A digest's content could not be fetched; the report has been printed.
    case fetchFailed

    var exitCode: CommandExitCode {
        switch self {
        case .noConfiguration, .configuration, .usage: .usage
        case .agent(let error): error.kind == .configuration ? .usage : .failed
        case .control(let error): error.kind == .invalid ? .usage : .failed
        case .client(.unreachable): .unreachable
        case .client: .failed
        case .degraded, .pollFailed, .fetchFailed: .failed
        }
    }

    /// What standard error gets: a sentence, or a line for each problem of the configuration.
    var lines: [String] {
        switch self {
        case .noConfiguration:
            [
                "starwatch: No configuration file was found; name one with --config, or write one with "
                    + "'starwatch config default > starwatch.yaml'."
            ]
        case .configuration(let failure): failure.lines
        case .usage(let message): ["starwatch: \(message)"]
        case .agent(let error): ["starwatch: \(error.message)"]
        case .control(let error): ["starwatch: \(error.message)"]
        case .client(let error): ["starwatch: \(error.description)"]
        case .degraded, .pollFailed, .fetchFailed: []
        }
    }
}

/// The exit codes, which are fixed.
enum CommandExitCode: Int32, Sendable {
    case good = 0
    /// The operation failed, or the agent is degraded.
    case failed = 1
    /// Usage or configuration.
    case usage = 2
    /// The agent cannot be reached.
    case unreachable = 3
}
