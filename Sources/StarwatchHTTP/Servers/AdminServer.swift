import Hummingbird
import Logging
import NIOCore
import NIOPosix
import ServiceLifecycle
import Starwatch
import StarwatchCore

/// The read-only server: metrics, health, readiness and the status page. It contains no personal data.
struct AdminServer: Service {
    private let listen: ListenAddress
    private let listener: Listener
    /// Waits until the server listens, and returns its URL for a program on this machine.
    let pages: @Sendable () async -> String?

    /// - Parameter listen: `host:port`; port 0 takes a free one.
    /// - Throws: ``HTTPServerError/badAddress(_:)``.
    init(
        agent: any ServedAgent,
        listen: String,
        settings: ServerSettings = ServerSettings(),
        logger: Logger
    ) throws(HTTPServerError) {
        let address = try ListenAddress(listen: listen)
        self.listen = address
        let bound = Promise<String>()
        var settings = settings
        settings.pages = { [isEncrypted = settings.security?.isEncrypted == true] in
            await bound.value().map { ListenAddress.localURL($0, isEncrypted: isEncrypted) }
        }
        let responder = RouteResponder(
            read: ReadRoutes(agent: agent, settings: settings),
            hosts: HostPolicy.readOnly(address, allowed: settings.allowedHosts),
            access: settings.passwords(),
            security: settings.security
        )
        pages = settings.pages
        listener = Listener(responder: responder, settings: settings, logger: logger, address: bound)
    }

    /// Serves until graceful shutdown, which waits for requests in progress up to the grace, or until cancelled.
    ///
    /// - Throws: ``HTTPServerError`` if the address cannot be listened on.
    func run() async throws {
        let executor = EventLoopExecutor(MultiThreadedEventLoopGroup.singleton.any())
        try await withTaskExecutorPreference(executor) {
            try await listener.run(
                at: .hostname(listen.host, port: listen.port),
                named: listen.description,
                on: executor.eventLoop,
                whenBound: { [listen] in ListenAddress(bound: $0, asked: listen).description }
            )
        }
    }

    /// Waits until the server listens, and returns `host:port` with the actual port.
    ///
    /// `nil` if the server cannot listen or stops before, or if the waiting task is cancelled.
    func boundAddress() async -> String? { await listener.address.value() }
}

extension ListenAddress {
    /// The URL of a bound address for a program on this machine, where every address includes the loopback one.
    fileprivate static func localURL(_ bound: String, isEncrypted: Bool) -> String {
        var address = bound
        if var parsed = try? ListenAddress(parsing: bound), parsed.isEveryAddress {
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

/// An executor on an event loop's own thread. A request is read, answered and written without a change of threads, which
/// took more than half of the time of a small answer.
///
/// Calls without an executor of their own run on the same thread, so none of them may take long.
final class EventLoopExecutor: TaskExecutor {
    let eventLoop: any EventLoop

    init(_ eventLoop: any EventLoop) { self.eventLoop = eventLoop }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        eventLoop.execute { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
