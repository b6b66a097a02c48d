import Hummingbird
import Logging
import ServiceLifecycle
import Starwatch
import StarwatchCore

/// The server of the control API: the pages of ``AdminServer``, and everything that changes the agent's state.
///
/// It listens on a Unix socket that only its owner can open, or on TCP for callers with the token.
struct ControlServer: Service {
    private enum Place: Sendable {
        case socket(path: String)
        case tcp(ListenAddress)
    }

    private let place: Place
    private let listener: Listener

    /// A server on a Unix socket of mode 0600. It replaces the socket of a dead agent.
    ///
    /// - Parameter socketPath: At most 107 bytes, with a directory of at most 95, which must exist.
    init(agent: any ServedAgent, socketPath: String, settings: ServerSettings = ServerSettings(), logger: Logger) {
        place = .socket(path: socketPath)
        let responder = RouteResponder(
            read: ReadRoutes(agent: agent, settings: settings, canControl: true),
            control: ControlRoutes(
                agent: agent,
                dashboards: settings.dashboards,
                isLocal: true,
                catalogues: settings.catalogues
            ),
            hosts: HostPolicy(own: nil, allowed: settings.allowedHosts)
        )
        listener = Listener(responder: responder, settings: settings, logger: logger)
    }

    /// A server on TCP, for requests with the token or a password. Every route requires it.
    ///
    /// - Parameters:
    ///   - listen: `host:port`; port 0 takes a free one.
    ///   - token: Reads the token, for every request. An empty one lets no caller in; an error answers 500. `nil`: the
    ///     users of the settings' web configuration are let in.
    /// - Throws: ``HTTPServerError/badAddress(_:)``.
    init(
        agent: any ServedAgent,
        listen: String,
        token: (@Sendable () async throws -> String)?,
        settings: ServerSettings = ServerSettings(),
        logger: Logger
    ) throws(HTTPServerError) {
        let address = try ListenAddress(listen: listen)
        place = .tcp(address)
        let responder = RouteResponder(
            read: ReadRoutes(agent: agent, settings: settings, canControl: true),
            control: ControlRoutes(
                agent: agent,
                dashboards: settings.dashboards,
                hasFeedAddress: settings.feedToken != nil,
                catalogues: settings.catalogues
            ),
            hosts: HostPolicy(own: address.host, allowed: settings.allowedHosts),
            access: token.map {
                AccessPolicy(
                    .token($0),
                    feed: settings.feedToken,
                    isFormer: settings.isFormerFeedToken,
                    now: settings.now
                )
            }
                ?? settings.passwords(),
            security: settings.security
        )
        listener = Listener(responder: responder, settings: settings, logger: logger)
    }

    /// Serves until graceful shutdown, which waits for requests in progress up to the grace, or until cancelled.
    ///
    /// - Throws: ``HTTPServerError`` if the address or socket cannot be listened on.
    func run() async throws {
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

    /// Waits until the server listens, and returns the socket's path, or `host:port` with the actual port.
    ///
    /// `nil` if the server cannot listen or stops before, or if the waiting task is cancelled.
    func boundAddress() async -> String? { await listener.address.value() }
}
