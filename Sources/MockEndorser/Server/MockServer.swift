import Foundation
import NIOConcurrencyHelpers
import NIOCore
import NIOHTTP1
import NIOPosix

/// An Endorser server for tests and demos, in this process and on 127.0.0.1.
///
/// All functions may be called from any task, before the server starts and while it runs. They take effect at once:
/// the next request sees them.
public final class MockServer: Sendable {
    private struct Running: Sendable {
        let group: MultiThreadedEventLoopGroup
        let channel: any Channel
    }

    /// The largest body of the webhook receiver and of the control paths.
    private static let ownBodyLimitBytes = 16 << 20

    public let options: MockServerOptions
    let state: NIOLockedValueBox<MockState>
    private let running = NIOLockedValueBox<Running?>(nil)
    private let lastPort: NIOLockedValueBox<Int>
    /// While it is stopped.
    private let reservation = NIOLockedValueBox<PortReservation?>(nil)

    public init(options: MockServerOptions = MockServerOptions()) {
        self.options = options
        state = NIOLockedValueBox(MockState(options: options))
        lastPort = NIOLockedValueBox(options.port)
    }

    /// The port: the one of the last start; before that, the one of the options.
    public var port: Int { lastPort.withLockedValue { $0 } }

    /// The server's URL, without a slash at its end. Its port is 0 before the first start.
    public var url: String { "http://127.0.0.1:\(port)" }

    /// Binds the port and begins to answer. After ``stop()`` it takes the same port again, with all state kept.
    ///
    /// - Throws: NIO's error if the port cannot be bound.
    public func start() async throws {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: options.eventLoopThreads)
        do {
            let channel = try await bootstrap(group).bind(host: "127.0.0.1", port: port).get()
            lastPort.withLockedValue { $0 = channel.localAddress?.port ?? 0 }
            running.withLockedValue { $0 = Running(group: group, channel: channel) }
            reservation.withLockedValue { $0 = nil }
        } catch {
            try? await group.shutdownGracefully()
            throw error
        }
    }

    /// Stops answering and closes every connection; the port stays reserved for the next ``start()``. Does nothing if
    /// the server does not run.
    public func stop() async throws {
        let current = running.withLockedValue { value in
            defer { value = nil }
            return value
        }
        guard let current else { return }
        try? await current.channel.close()
        reservation.withLockedValue { $0 = PortReservation(port: port) }
        try await current.group.shutdownGracefully()
    }

    private func bootstrap(_ group: MultiThreadedEventLoopGroup) -> ServerBootstrap {
        let state = self.state
        let limit = options.bodyLimitBytes
        return ServerBootstrap(group: group)
            .serverChannelOption(.backlog, value: 1024)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let handler = HTTPRequestHandler(
                        bodyLimitBytes: { $0.hasPrefix("/api/") ? limit : Self.ownBodyLimitBytes },
                        respond: { request in state.withLockedValue { $0.respond(to: request) } }
                    )
                    try channel.pipeline.syncOperations.configureHTTPServerPipeline()
                    try channel.pipeline.syncOperations.addHandler(handler)
                }
            }
    }
}
