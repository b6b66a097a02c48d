package import Starwatch

/// Why the control API did not do what the command line asked.
package enum ControlClientError: Error, Sendable, Hashable {
    /// No agent listens on the socket, or this user may not open it. `detail` is the system's own text.
    case unreachable(path: String, detail: String)
    /// The agent answered, and refused.
    case refused(ControlError)
    /// The agent closed the connection before it answered: it is stopping.
    case hungUp
    /// The answer is not one of ours.
    case unintelligible
    /// The task was cancelled.
    case cancelled
}

extension ControlClientError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .unreachable(let path, let detail):
            "No agent can be reached at \(path) (\(detail)); start one with \"starwatch run\", or name its --socket."
        case .refused(let error): error.message
        case .hungUp: "The agent closed the connection before it answered; see its log, and try again."
        case .unintelligible: "What listens on the control socket is not an agent of this version; check --socket."
        case .cancelled: "Interrupted."
        }
    }
}
