import Foundation
import NIOCore
import NIOPosix
import StarwatchCore
import Synchronization

/// An NTP server on a free port of 127.0.0.1, with the test's clock, off by as much as it is told.
final class FakeTimeServer: Sendable {
    enum Behaviour: Sendable {
        case answer(ahead: Duration)
        /// The alarm: its clock is not right.
        case unsynchronised
        /// A kiss-o'-death packet with these four letters.
        case kiss(String)
    }

    private struct State {
        var behaviour = Behaviour.answer(ahead: .zero)
        var questions = 0
    }

    private let clock: ManualClock
    private let state = Mutex(State())

    private init(clock: ManualClock) { self.clock = clock }

    /// Number of queries.
    var questions: Int { state.withLock(\.questions) }

    func behave(_ behaviour: Behaviour) { state.withLock { $0.behaviour = behaviour } }

    /// Runs a server while `body` runs, and gives it the address.
    static func with(_ clock: ManualClock, _ body: (FakeTimeServer, String) async throws -> Void) async throws {
        let server = FakeTimeServer(clock: clock)
        let channel = try await DatagramBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(Handler(server: server))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        let result: Result<Void, any Error>
        do {
            result = .success(try await body(server, "127.0.0.1:\(channel.localAddress!.port!)"))
        } catch {
            result = .failure(error)
        }
        try await channel.close()
        try result.get()
    }

    private func answer(to question: [UInt8]) -> [UInt8] {
        let behaviour = state.withLock { state in
            state.questions += 1
            return state.behaviour
        }
        var (leap, stratum, reference, ahead): (UInt8, UInt8, [UInt8], Duration) = (0, 2, [127, 0, 0, 1], .zero)
        switch behaviour {
        case .answer(let value): ahead = value
        case .unsynchronised: (leap, stratum) = (3, 16)
        case .kiss(let code): (leap, stratum, reference) = (3, 0, Array(code.utf8))
        }
        let milliseconds = (clock.now + ahead).milliseconds
        let bits =
            UInt64(milliseconds / 1000 + 2_208_988_800) << 32 | (UInt64(milliseconds % 1000) << 32 + 999) / 1000
        let time = withUnsafeBytes(of: bits.bigEndian, Array.init)
        return [leap << 6 | 4 << 3 | 4, stratum, 6, 0xe9] + Array(repeating: 0, count: 8) + reference + time
            + question.suffix(8) + time + time
    }

    private final class Handler: ChannelInboundHandler {
        typealias InboundIn = AddressedEnvelope<ByteBuffer>
        typealias OutboundOut = AddressedEnvelope<ByteBuffer>

        private let server: FakeTimeServer

        init(server: FakeTimeServer) { self.server = server }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            let envelope = unwrapInboundIn(data)
            let answer = server.answer(to: Array(envelope.data.readableBytesView))
            let reply = AddressedEnvelope(remoteAddress: envelope.remoteAddress, data: ByteBuffer(bytes: answer))
            context.writeAndFlush(wrapOutboundOut(reply), promise: nil)
        }
    }
}
