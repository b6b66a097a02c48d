import Foundation
import Glibc
import NIOConcurrencyHelpers
import NIOCore
import NIOHTTP1
import NIOPosix

/// An in-process Endorser server on 127.0.0.1, for tests and demos.
///
/// Any task may call its functions, before the start and while the server runs. They take effect with the next request.
public final class MockServer: Sendable {
    private struct Running: Sendable {
        let group: MultiThreadedEventLoopGroup
        let channel: any Channel
    }

    /// Size limit of bodies for the webhook receiver and the control paths.
    private static let ownBodyLimitBytes = 16 << 20

    public let options: MockServerOptions
    let state: NIOLockedValueBox<MockState>
    private let running = NIOLockedValueBox<Running?>(nil)
    /// Held from the first start, so that no other socket gets the port while the server is stopped.
    private let reservation = NIOLockedValueBox<PortReservation?>(nil)

    public init(options: MockServerOptions = MockServerOptions()) {
        self.options = options
        state = NIOLockedValueBox(MockState(options: options))
    }

    /// The port of the last start; before the first start, the port of the options.
    public var port: Int { reservation.withLockedValue { $0?.port } ?? options.port }

    /// The server's URL without a trailing slash. Before the first start its port is that of the options.
    public var url: String { "http://127.0.0.1:\(port)" }

    /// Binds the port and accepts requests. After ``stop()`` it uses the same port and keeps all state.
    ///
    /// - Throws: NIO's error if the port cannot be bound.
    public func start() async throws {
        reservation.withLockedValue { $0 = $0 ?? PortReservation(port: options.port) }
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        do {
            let channel = try await bootstrap(group).bind(host: "127.0.0.1", port: port).get()
            running.withLockedValue { $0 = Running(group: group, channel: channel) }
        } catch {
            try? await group.shutdownGracefully()
            throw error
        }
    }

    /// Closes the listener and every connection, and keeps the port for the next ``start()``. Does nothing if the server
    /// is not running.
    ///
    /// - Throws: NIO's error if the event loop cannot be shut down.
    public func stop() async throws {
        let current = running.withLockedValue { value in
            defer { value = nil }
            return value
        }
        guard let current else { return }
        try? await current.channel.close()
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

/// Reserves a port of 127.0.0.1 without listening on it, so that connections are refused.
///
/// The system can assign a free port to the local end of any outgoing connection.
final class PortReservation: Sendable {
    private let descriptor: Int32
    /// The reserved port.
    let port: Int

    /// Reserves a port, or any free one for 0; `nil` when it is already in use.
    init?(port: Int) {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        // Permits the server to bind the same port.
        var yes: Int32 = 1
        setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(UInt16(port).bigEndian)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let bound = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, size) == 0 && getsockname(descriptor, $0, &size) == 0
            }
        }
        guard bound else {
            close(descriptor)
            return nil
        }
        self.descriptor = descriptor
        self.port = Int(UInt16(bigEndian: address.sin_port))
    }

    deinit { close(descriptor) }
}
