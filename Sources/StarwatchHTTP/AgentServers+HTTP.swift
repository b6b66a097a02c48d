import Foundation
import Logging
public import Starwatch
import StarwatchCore
import StarwatchTransport

extension AgentServers {
    /// The HTTP servers: the read-only one at `http.listen`, and the control API on `control.socket` and, if
    /// configured, at `control.listen`.
    public static let http = AgentServers(
        make: { agent, options, logger throws(AgentError) in
            do throws(HTTPServerError) {
                return try httpServers(of: agent, options, logger)
            } catch {
                throw AgentError(.configuration, error.description)
            }
        },
        check: { next, current throws(AgentError) in
            do {
                try await checkControlAddress(next, current)
            } catch let error as HTTPServerError {
                throw AgentError(.configuration, error.description)
            } catch {
                throw AgentError(.failed, "The control API's address could not be tried.")
            }
        }
    )

    private static func httpServers(
        of agent: any ServedAgent,
        _ options: AgentOptions,
        _ logger: Logger
    ) throws(HTTPServerError) -> Run {
        let settings = ServerSettings(dashboards: options.http.dashboardsURL, allowedHosts: options.http.allowedHosts)
        let admin = try AdminServer(
            agent: agent,
            listen: options.http.listen,
            settings: settings,
            logger: logger
        )
        var run = Run()
        run.metricsAddress = { await admin.boundAddress() }
        run.services = [
            admin,
            ControlServer(agent: agent, socketPath: options.control.socket, settings: settings, logger: logger),
        ]
        if let listen = options.control.listen, let path = options.control.tokenFile {
            let file = SecretFile(
                path: path,
                setting: "control.token_file",
                credentialsDirectory: ProcessInfo.processInfo.environment["CREDENTIALS_DIRECTORY"]
            )
            run.services.append(
                try ControlServer(
                    agent: agent,
                    listen: listen,
                    token: {
                        var file = file
                        return String(decoding: try file.read(), as: UTF8.self)
                    },
                    settings: settings,
                    logger: logger
                )
            )
        }
        return run
    }

    private static func checkControlAddress(_ next: AgentOptions, _ current: AgentOptions) async throws {
        guard let address = try next.control.listen.map({ try ListenAddress(listen: $0) }) else { return }
        // The agent itself can hold this port on another address, so binding it would fail.
        let former = try current.control.listen.map { try ListenAddress(listen: $0) }
        if address.port != former?.port { try await address.tryOut() }
    }
}

extension ListenAddress {
    /// - Throws: ``HTTPServerError/badAddress(_:)``.
    init(listen text: String) throws(HTTPServerError) {
        do throws(ListenAddressError) {
            try self.init(parsing: text)
        } catch {
            throw .badAddress(text)
        }
    }
}
