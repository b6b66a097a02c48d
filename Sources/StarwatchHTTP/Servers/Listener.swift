import Glibc
import Hummingbird
import HummingbirdCore
import Logging
import NIOCore
import NIOHTTP1
import NIOPosix
import ServiceLifecycle
import Starwatch
import StarwatchCore
import Synchronization

/// Runs Hummingbird's server on one address until graceful shutdown, and announces the address.
///
/// Not Hummingbird's `Application`, which wakes up every second for the `Date` header.
struct Listener: Sendable {
    var responder: RouteResponder
    var settings = ServerSettings()
    var logger: Logger
    /// The address, once the server listens.
    var address = Promise<String>()

    /// Returns after graceful shutdown, or when the task is cancelled.
    ///
    /// - Parameters:
    ///   - named: The address in messages.
    ///   - group: The event loops that serve connections.
    ///   - whenBound: Called when the socket listens; returns the text of ``address``. If it throws, the server stops.
    /// - Throws: ``AgentError``, and what `whenBound` throws.
    func run(
        at place: BindAddress,
        named: String,
        on group: any EventLoopGroup = MultiThreadedEventLoopGroup.singleton,
        whenBound: @escaping @Sendable (SocketAddress?) throws -> String
    ) async throws {
        defer { address.abandon() }
        let bound = Promise<SocketAddress?>()
        // At info Hummingbird would log the start, which the agent logs itself.
        var logger = logger
        logger.handler = StoppingLogHandler(handler: logger.handler)
        logger.logLevel = max(logger.logLevel, .warning)
        let (limits, book) = (settings.limits, ConnectionBook(limit: settings.limits.connections))
        let turns = RequestTurns(pause: limits.turn)
        let date = DateHeader { SystemClock().now }
        let http = HTTP1Channel { [responder] request, writer, channel in
            var response = await responder.respond(to: request, on: channel)
            response.headers[.date] = date.text
            try await writer.write(response: response.head, body: response.body)
        }
        let channel = GuardedHTTPChannel(
            http: http,
            security: settings.security,
            limits: limits,
            book: book,
            turns: turns
        )
        let server = channel.server(
            configuration: .init(address: place),
            onServerRunning: { bound.fulfil($0.localAddress) },
            eventLoopGroup: group,
            logger: logger
        )
        do {
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await server.run() }
                group.addTask {
                    guard let socket = await bound.value() else { return }
                    do {
                        address.fulfil(try whenBound(socket))
                    } catch {
                        // After an early stop the socket is already closed and its file is gone.
                        if Task.isShuttingDownGracefully { return }
                        throw error
                    }
                    try await gracefulShutdown()
                    try await Task.sleep(for: settings.shutdownGrace)
                }
                defer { group.cancelAll() }
                try await group.next()
            }
        } catch is CancellationError {
            return
        } catch {
            throw AgentError.refusal(error, of: named) ?? error
        }
    }
}

extension ListenAddress {
    /// Listens for a moment, to check that the address can be used.
    ///
    /// - Throws: ``AgentError`` if it cannot.
    func tryOut() async throws {
        do {
            let bootstrap = ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            try await bootstrap.bind(host: host, port: port).get().close().get()
        } catch {
            throw AgentError.refusal(error, of: description) ?? error
        }
    }
}

// The reasons why a server could not start.
extension AgentError {
    /// The text is not `host:port`.
    static func badAddress(_ text: String) -> AgentError {
        let advice = "write for example 127.0.0.1:9464 or [::1]:9464."
        return AgentError(.configuration, "The address \"\(text)\" is not host:port; \(advice)")
    }

    static func addressInUse(_ address: String) -> AgentError {
        let advice = "stop that one or choose another port."
        return AgentError(.failed, "The address \(address) is in use by another program; \(advice)")
    }

    /// The system refuses the address. `detail` is the system's text.
    static func cannotListen(address: String, detail: String) -> AgentError {
        AgentError(.failed, "Cannot listen on \(address) (\(detail)); choose an address of this machine.")
    }

    /// The control socket belongs to a running agent.
    static func agentRunning(path: String) -> AgentError {
        AgentError(.failed, "Another agent is listening on \(path); stop it, or choose another control.socket.")
    }

    /// The control socket's path is not usable.
    static func badSocket(path: String, detail: String) -> AgentError {
        AgentError(.failed, "Cannot create the control socket \(path): \(detail).")
    }

    /// The reason why `address` is refused; `nil` for an unrelated error.
    fileprivate static func refusal(_ error: any Error, of address: String) -> AgentError? {
        switch error {
        case let error as IOError where error.errnoCode == EADDRINUSE: .addressInUse(address)
        case let error as IOError: .cannotListen(address: address, detail: ErrnoText.of(error.errnoCode))
        case is SocketAddressError: .cannotListen(address: address, detail: "no such address")
        case is SocketAddressError.UnknownHost: .cannotListen(address: address, detail: "no such host")
        default: nil
        }
    }
}

/// HTTP/1.1 with a ``ConnectionGuard`` and the port's TLS before it, and a ``RequestQueue`` after its decoder.
private struct GuardedHTTPChannel: ServerChildChannel {
    var http: HTTP1Channel
    var security: PortSecurity?
    var limits: ConnectionLimits
    var book: ConnectionBook
    var turns: RequestTurns

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<HTTP1Channel.Value> {
        channel.eventLoop.makeCompletedFuture {
            security?.look()
            let (pipeline, tls) = (channel.pipeline.syncOperations, security?.active.tls)
            try pipeline.addHandler(ConnectionGuard(limits: limits, book: book, isEncrypted: tls != nil))
            if let tls { try pipeline.addHandlers([tls.handler(), TLSWatch()]) }
        }.flatMap { http.setup(channel: channel, logger: logger) }.flatMapThrowing { value in
            let pipeline = channel.pipeline.syncOperations
            let decoder = try pipeline.handler(type: ByteToMessageHandler<HTTPRequestDecoder>.self)
            try pipeline.addHandler(RequestQueue(turns: turns), position: .after(decoder))
            return value
        }
    }

    func handle(value: HTTP1Channel.Value, logger: Logger) async { await http.handle(value: value, logger: logger) }
}

/// The text of the `Date` header. It is made once a second while answers are sent, and never while none are.
final class DateHeader: Sendable {
    private let now: @Sendable () -> Timestamp
    private let last = Mutex((second: Int64.min, text: ""))

    init(now: @escaping @Sendable () -> Timestamp) { self.now = now }

    var text: String {
        let now = now()
        return last.withLock { last in
            let second = now.milliseconds / 1000
            if last.second != second { last = (second, HTTPDate.format(now)) }
            return last.text
        }
    }
}

/// Writes errors of Hummingbird at debug once the agent stops.
///
/// When the time for stopping is over, the server's task is cancelled. Hummingbird then reports that it no longer accepts
/// connections, and that its socket is closed already, as errors. Both are what was asked for.
struct StoppingLogHandler: LogHandler {
    var handler: any LogHandler

    var logLevel: Logger.Level {
        get { handler.logLevel }
        set { handler.logLevel = newValue }
    }

    var metadata: Logger.Metadata {
        get { handler.metadata }
        set { handler.metadata = newValue }
    }

    var metadataProvider: Logger.MetadataProvider? {
        get { handler.metadataProvider }
        set { handler.metadataProvider = newValue }
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { handler[metadataKey: key] }
        set { handler[metadataKey: key] = newValue }
    }

    func log(event: LogEvent) {
        guard Task.isCancelled || Task.isShuttingDownGracefully else { return handler.log(event: event) }
        guard handler.logLevel <= .debug else { return }
        var event = event
        event.level = .debug
        handler.log(event: event)
    }
}
