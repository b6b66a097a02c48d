import Foundation
import Logging
public import Starwatch
import StarwatchCore
import StarwatchTransport

extension AgentServers {
    /// The length of the shortest accepted control token in bytes.
    package static let shortestControlToken = 16

    /// The HTTP servers: the read-only one at `http.listen`, and the control API on `control.socket` and, if
    /// configured, at `control.listen`. They have no web configuration.
    public static let http = servers(nil)

    /// The HTTP servers, with TLS and passwords.
    ///
    /// - Parameter source: Reads the web configuration of ``HTTPOptions/webConfigFile`` and
    ///   ``ControlOptions/webConfigFile``, at the start and whenever one of its files changes. It can block.
    public static func http(web source: @escaping WebConfiguration.Source) -> AgentServers { servers(source) }

    private static func servers(_ source: WebConfiguration.Source?) -> AgentServers {
        AgentServers(
            make: { agent, options, logger throws(AgentError) in
                try ServedPorts(options, agent, source).servers(of: agent, logger)
            },
            check: { next, current throws(AgentError) in
                _ = try ServedPorts(next, nil, source)
                do {
                    try await checkControlAddress(next, current)
                } catch let error as AgentError {
                    throw AgentError(.configuration, error.message)
                } catch {
                    throw AgentError(.failed, "The control API's address could not be tried.")
                }
            }
        )
    }

    private static func checkControlAddress(_ next: AgentOptions, _ current: AgentOptions) async throws {
        guard let address = try next.control.listen.map({ try ListenAddress(listen: $0) }) else { return }
        // The agent itself can hold this port on another address, so binding it would fail.
        let former = try current.control.listen.map { try ListenAddress(listen: $0) }
        if address.port != former?.port { try await address.tryOut() }
    }
}

extension ListenAddress {
    init(listen text: String) throws(AgentError) {
        guard let address = ListenAddress(parsing: text) else { throw .badAddress(text) }
        self = address
    }
}
