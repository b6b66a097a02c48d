import NIOCore
import NIOEmbedded
import Testing

@testable import Starwatch
@testable import StarwatchHTTP

@Suite struct ConnectionGuardTests {
    /// A server's side of connections, in a time of its own.
    private final class Side {
        let loop = EmbeddedEventLoop()
        let book: ConnectionBook
        private var limits = ConnectionLimits()

        init(connections: Int = 256) {
            limits.connections = connections
            book = ConnectionBook(limit: connections)
        }

        func connect() throws -> EmbeddedChannel {
            let channel = EmbeddedChannel(handler: ConnectionGuard(limits: limits, book: book), loop: loop)
            try channel.connect(to: SocketAddress(unixDomainSocketPath: "/a")).wait()
            return channel
        }

        func pass(_ seconds: Int64) { loop.advanceTime(by: .seconds(seconds)) }
    }

    private let bytes = ByteBuffer(string: "x")

    @Test func aConnectionWithoutARequestIsClosedInTheEnd() throws {
        let side = Side()
        let channel = try side.connect()
        side.pass(149)
        #expect(channel.isActive)
        side.pass(1)
        #expect(!channel.isActive)
        #expect(side.book.count == 0)
    }

    @Test func aRequestThatDripsIsClosedHoweverSteadyTheDrops() throws {
        let side = Side()
        let channel = try side.connect()
        side.pass(100)
        for _ in 0..<29 {
            try channel.writeInbound(bytes)
            side.pass(1)
        }
        #expect(channel.isActive)
        try channel.writeInbound(bytes)
        side.pass(1)
        #expect(!channel.isActive)
    }

    @Test func whileAnAnswerIsBeingMadeTheConnectionStays() throws {
        let side = Side()
        let channel = try side.connect()
        try channel.writeInbound(bytes)
        channel.triggerUserOutboundEvent(ConnectionGuard.Event.requestIsComplete, promise: nil)
        side.pass(3600)
        #expect(channel.isActive)
    }

    @Test func anAnswerThatNobodyTakesIsGivenUp() throws {
        let side = Side()
        let channel = try side.connect()
        try channel.writeInbound(bytes)
        channel.triggerUserOutboundEvent(ConnectionGuard.Event.requestIsComplete, promise: nil)
        channel.write(bytes, promise: nil)
        side.pass(29)
        // Accepted bytes prove that the client reads.
        channel.flush()
        channel.write(bytes, promise: nil)
        side.pass(29)
        #expect(channel.isActive)
        side.pass(1)
        #expect(!channel.isActive)
    }

    @Test func anAnswerThatNobodyTakesIsGivenUpThoughTheNextOneIsBeingMade() throws {
        let side = Side(connections: 1)
        let channel = try side.connect()
        try channel.writeInbound(bytes)
        for _ in 0..<2 {
            channel.triggerUserOutboundEvent(ConnectionGuard.Event.requestIsComplete, promise: nil)
            channel.write(bytes, promise: nil)
        }
        channel.triggerUserOutboundEvent(ConnectionGuard.Event.requestIsComplete, promise: nil)
        side.pass(29)
        #expect(channel.isActive)
        // Once they are taken, the third may take its time.
        channel.flush()
        side.pass(3600)
        #expect(channel.isActive)

        channel.write(bytes, promise: nil)
        channel.triggerUserOutboundEvent(ConnectionGuard.Event.requestIsComplete, promise: nil)
        side.pass(29)
        #expect(channel.isActive)
        side.pass(1)
        #expect(!channel.isActive)
    }

    @Test func whoDoesNotTakeAnAnswerMakesRoomThoughTheNextOneIsBeingMade() throws {
        let side = Side(connections: 1)
        let silent = try side.connect()
        try silent.writeInbound(bytes)
        silent.triggerUserOutboundEvent(ConnectionGuard.Event.requestIsComplete, promise: nil)
        silent.write(bytes, promise: nil)
        silent.triggerUserOutboundEvent(ConnectionGuard.Event.requestIsComplete, promise: nil)
        let other = try side.connect()
        side.loop.run()
        #expect(!silent.isActive && other.isActive)
    }

    @Test func afterAnAnswerThatWasTakenThereIsTimeForTheNextRequest() throws {
        let side = Side()
        let channel = try side.connect()
        for _ in 0..<3 {
            try channel.writeInbound(bytes)
            channel.triggerUserOutboundEvent(ConnectionGuard.Event.requestIsComplete, promise: nil)
            try channel.writeOutbound(bytes)
            side.pass(149)
            #expect(channel.isActive)
        }
        side.pass(1)
        #expect(!channel.isActive)
    }

    @Test func oneTooManyTakesThePlaceOfTheLongestQuiet() throws {
        let side = Side(connections: 3)
        let first = try side.connect()
        side.pass(1)
        let second = try side.connect()
        side.pass(1)
        let third = try side.connect()
        side.pass(1)
        try first.writeInbound(bytes)
        _ = try side.connect()
        side.loop.run()
        #expect(first.isActive && !second.isActive && third.isActive)
        #expect(side.book.count == 3)
    }

    @Test(arguments: [(20, 8), (64, 16), (1024, 256), (1 << 40, 256)])
    func threeServersLeaveFilesForTheRest(files: Int, connections: Int) {
        #expect(ConnectionLimits.connections(ofFiles: files) == connections)
    }

    @Test func ofThoseBeingAnsweredNoneIsClosed() throws {
        let side = Side(connections: 2)
        let answered = try (0..<2).map { _ in
            let channel = try side.connect()
            channel.triggerUserOutboundEvent(ConnectionGuard.Event.requestIsComplete, promise: nil)
            return channel
        }
        let newcomer = try side.connect()
        side.loop.run()
        #expect(!newcomer.isActive)
        #expect(answered[0].isActive && answered[1].isActive)
        #expect(side.book.count == 2)
    }
}
