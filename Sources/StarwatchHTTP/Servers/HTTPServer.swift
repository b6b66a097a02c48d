import Hummingbird
import Logging
import NIOCore
import NIOPosix
import ServiceLifecycle
import Starwatch
import StarwatchCore

/// A server of the agent.
///
/// The read-only one has metrics, health, readiness and the status page, and contains no personal data. The others have the
/// control API too, which changes the agent's state: on a Unix socket that only its owner can open, or on TCP for callers with the
/// token.
struct HTTPServer: Service {
    /// The address on TCP; `nil` for the socket at ``path``.
    private let tcp: ListenAddress?
    private let path: String
    private let isReadOnly: Bool
    private let listener: Listener
    /// Waits until the read-only server listens, and returns its URL for a program on this machine.
    let pages: @Sendable () async -> String?

    /// The read-only server.
    ///
    /// - Parameter listen: `host:port`; port 0 takes a free one.
    /// - Throws: ``AgentError`` if that is no address.
    init(
        reading agent: any ServedAgent,
        listen: String,
        settings: ServerSettings = ServerSettings(),
        logger: Logger
    ) throws(AgentError) {
        let address = try ListenAddress(listen: listen)
        let bound = Promise<String>()
        var settings = settings
        settings.pages = { [isEncrypted = settings.security?.isEncrypted == true] in
            await bound.value().map { ListenAddress.localURL($0, isEncrypted: isEncrypted) }
        }
        let responder = RouteResponder(
            read: ReadRoutes(agent: agent, settings: settings),
            hosts: HostPolicy.readOnly(address, allowed: settings.allowedHosts),
            access: settings.access(nil),
            security: settings.security
        )
        (tcp, path, isReadOnly, pages) = (address, "", true, settings.pages)
        listener = Listener(responder: responder, settings: settings, logger: logger, address: bound)
    }

    /// The control API on a Unix socket of mode 0600. It replaces the socket of a dead agent.
    ///
    /// - Parameter socketPath: At most 107 bytes, with a directory of at most 95, which must exist.
    init(agent: any ServedAgent, socketPath: String, settings: ServerSettings = ServerSettings(), logger: Logger) {
        self.init(agent, at: nil, path: socketPath, access: nil, settings, logger: logger)
    }

    /// The control API on TCP, for requests with the token or a password. Every route requires it.
    ///
    /// - Parameters:
    ///   - listen: `host:port`; port 0 takes a free one.
    ///   - token: Reads the token, for every request. An empty one lets no caller in; an error answers 500. `nil`: the
    ///     users of the settings' web configuration are let in.
    /// - Throws: ``AgentError`` if that is no address.
    init(
        agent: any ServedAgent,
        listen: String,
        token: (@Sendable () async throws -> String)?,
        settings: ServerSettings = ServerSettings(),
        logger: Logger
    ) throws(AgentError) {
        let access = settings.access(token.map { .token($0) })
        self.init(agent, at: try ListenAddress(listen: listen), path: "", access: access, settings, logger: logger)
    }

    private init(
        _ agent: any ServedAgent,
        at address: ListenAddress?,
        path: String,
        access: AccessPolicy?,
        _ settings: ServerSettings,
        logger: Logger
    ) {
        let responder = RouteResponder(
            read: ReadRoutes(agent: agent, settings: settings, canControl: true),
            control: ControlRoutes(agent: agent, settings: settings, isLocal: address == nil),
            hosts: HostPolicy(own: address?.host, allowed: settings.allowedHosts),
            access: access,
            security: address == nil ? nil : settings.security
        )
        (tcp, self.path, isReadOnly, pages) = (address, path, false, settings.pages)
        listener = Listener(responder: responder, settings: settings, logger: logger)
    }

    /// Serves until graceful shutdown, which waits for requests in progress up to the grace, or until cancelled.
    ///
    /// - Throws: ``AgentError`` if the address or socket cannot be listened on.
    func run() async throws {
        defer { listener.address.abandon() }
        if let tcp {
            guard isReadOnly else { return try await serve(tcp, on: MultiThreadedEventLoopGroup.singleton) }
            let executor = EventLoopExecutor(MultiThreadedEventLoopGroup.singleton.any())
            return try await withTaskExecutorPreference(executor) { try await serve(tcp, on: executor.eventLoop) }
        }
        let socket = try await ControlSocket.claim(path)
        defer { socket.release() }
        try await listener.run(at: .unixDomainSocket(path: socket.stagingPath), named: path) { [path] _ in
            try socket.publish()
            return path
        }
    }

    private func serve(_ tcp: ListenAddress, on group: any EventLoopGroup) async throws {
        try await listener.run(at: .hostname(tcp.host, port: tcp.port), named: tcp.description, on: group) {
            ListenAddress(bound: $0, asked: tcp).description
        }
    }

    /// Waits until the server listens, and returns the socket's path, or `host:port` with the actual port.
    ///
    /// `nil` if the server cannot listen or stops before, or if the waiting task is cancelled.
    func boundAddress() async -> String? { await listener.address.value() }
}

extension ListenAddress {
    /// The URL of a bound address for a program on this machine, where every address includes the loopback one.
    fileprivate static func localURL(_ bound: String, isEncrypted: Bool) -> String {
        var address = bound
        if var parsed = ListenAddress(parsing: bound), parsed.isEveryAddress {
            parsed.host = parsed.host.contains(":") ? "::1" : "127.0.0.1"
            address = parsed.description
        }
        return "\(isEncrypted ? "https" : "http")://\(address)"
    }

    /// The address of a bound socket.
    init(bound socket: SocketAddress?, asked: ListenAddress) {
        self.init(host: socket?.ipAddress ?? asked.host, port: socket?.port ?? asked.port)
    }
}
