import Hummingbird
package import Logging
import ServiceLifecycle
package import Starwatch
import StarwatchCore

/// The control API: the routes of ``AdminServer``, and everything that changes the agent's state.
///
/// On a Unix socket that only its owner can open, or on TCP for clients with the token.
package struct ControlServer: Service {
    private enum Place: Sendable {
        case socket(path: String)
        case tcp(ListenAddress)
    }

    private let place: Place
    private let listener: Listener

    /// Creates a server on a Unix socket of mode 0600. It replaces the socket of a dead agent.
    ///
    /// - Parameters:
    ///   - socketPath: At most 107 bytes, with a directory of at most 95 bytes, which must exist.
    ///   - dashboards: The URL of the dashboards, for the page's link.
    ///   - shutdownGrace: The time that requests in flight have once shutdown has begun.
    package init(
        agent: any ServedAgent,
        socketPath: String,
        dashboards: String? = nil,
        shutdownGrace: Duration = .seconds(5),
        limits: ConnectionLimits = ConnectionLimits(),
        logger: Logger
    ) {
        place = .socket(path: socketPath)
        let responder = RouteResponder(
            read: ReadRoutes(agent: agent, dashboards: dashboards, canControl: true),
            control: ControlRoutes(agent: agent, dashboards: dashboards)
        )
        listener = Listener(responder: responder, shutdownGrace: shutdownGrace, limits: limits, logger: logger)
    }

    /// Creates a server on TCP, for requests with the token; every route checks it.
    ///
    /// - Parameters:
    ///   - listen: `host:port`; port 0 takes a free one.
    ///   - token: Called for every request. An empty token rejects every client; if it throws, the response is 500.
    ///   - dashboards: The URL of the dashboards, for the page's link.
    /// - Throws: ``HTTPServerError/badAddress(_:)``.
    package init(
        agent: any ServedAgent,
        listen: String,
        token: @escaping @Sendable () async throws -> String,
        dashboards: String? = nil,
        shutdownGrace: Duration = .seconds(5),
        limits: ConnectionLimits = ConnectionLimits(),
        logger: Logger
    ) throws(HTTPServerError) {
        let address = try ListenAddress(listen: listen)
        place = .tcp(address)
        let responder = RouteResponder(
            read: ReadRoutes(agent: agent, dashboards: dashboards, canControl: true),
            control: ControlRoutes(agent: agent, dashboards: dashboards),
            access: AccessPolicy(host: address.host, token: token)
        )
        listener = Listener(responder: responder, shutdownGrace: shutdownGrace, limits: limits, logger: logger)
    }

    /// Serves until cancellation or graceful shutdown, which waits for requests in flight for up to the grace.
    ///
    /// - Throws: ``HTTPServerError`` if it cannot listen on the address or socket.
    package func run() async throws {
        defer { listener.address.abandon() }
        switch place {
        case .tcp(let address):
            try await listener.run(
                at: .hostname(address.host, port: address.port),
                named: address.description,
                whenBound: { ListenAddress(bound: $0, asked: address).description }
            )
        case .socket(let path):
            let socket = try await ControlSocket.claim(path)
            defer { socket.release() }
            try await listener.run(
                at: .unixDomainSocket(path: socket.stagingPath),
                named: path,
                whenBound: { _ in
                    try socket.publish()
                    return path
                }
            )
        }
    }

    /// The socket's path, or `host:port` with the port in use, as soon as the server listens.
    ///
    /// `nil` if it cannot listen, if it stops before that, or if the waiting task is cancelled.
    package func boundAddress() async -> String? { await listener.address.value() }
}
