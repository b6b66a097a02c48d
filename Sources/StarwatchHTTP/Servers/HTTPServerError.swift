import StarwatchCore

/// The reason why a server could not start.
package enum HTTPServerError: Error, Sendable, Hashable {
    /// `listen` is not `host:port`.
    case badAddress(String)
    case addressInUse(String)
    /// The system refuses the address. `detail` is the system's text.
    case cannotListen(address: String, detail: String)
    /// The control socket belongs to a running agent.
    case agentRunning(path: String)
    /// The control socket's path is not usable.
    case badSocket(path: String, detail: String)
}

extension HTTPServerError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .badAddress(let text): ListenAddressError(text: text).description
        case .addressInUse(let address):
            "The address \(address) is in use by another program; stop that one or choose another port."
        case .cannotListen(let address, let detail):
            "Cannot listen on \(address) (\(detail)); choose an address of this machine."
        case .agentRunning(let path):
            "Another agent is listening on \(path); stop it, or choose another control.socket."
        case .badSocket(let path, let detail):
            "Cannot create the control socket \(path): \(detail)."
        }
    }
}
