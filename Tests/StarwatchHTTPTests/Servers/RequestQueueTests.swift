import NIOCore
import NIOEmbedded
import NIOHTTP1
import Testing

@testable import Starwatch
@testable import StarwatchHTTP

@Suite(.timeLimit(.minutes(5)))
struct RequestQueueTests {
    /// Counts the reads that reach the socket.
    private final class ReadCounter: ChannelOutboundHandler {
        typealias OutboundIn = Any
        private(set) var reads = 0

        func read(context: ChannelHandlerContext) {
            reads += 1
            context.read()
        }
    }

    /// A server's side of connections, in a time of its own.
    private final class Side {
        let loop = EmbeddedEventLoop()
        let turns = RequestTurns(pause: .milliseconds(1))

        func connect() throws -> Connection {
            let counter = ReadCounter()
            let channel = EmbeddedChannel(handlers: [counter, RequestQueue(turns: turns)], loop: loop)
            try channel.connect(to: SocketAddress(unixDomainSocketPath: "/a")).wait()
            return Connection(channel: channel, counter: counter)
        }
    }

    private struct Connection {
        let channel: EmbeddedChannel
        let counter: ReadCounter

        func send(_ paths: String..., version: HTTPVersion = .http1_1, headers: HTTPHeaders = [:]) throws {
            for path in paths {
                let head = HTTPRequestHead(version: version, method: .GET, uri: path, headers: headers)
                try channel.writeInbound(HTTPServerRequestPart.head(head))
                try channel.writeInbound(HTTPServerRequestPart.end(nil))
            }
        }

        /// The requests that were passed on since the last call.
        func passed() throws -> [String] { try heads().map(\.uri) }

        func heads() throws -> [HTTPRequestHead] {
            var heads: [HTTPRequestHead] = []
            while let part = try channel.readInbound(as: HTTPServerRequestPart.self) {
                if case .head(let head) = part { heads.append(head) }
            }
            return heads
        }

        func answer() throws {
            let head = HTTPResponseHead(version: .http1_1, status: .ok)
            try channel.writeOutbound(HTTPServerResponsePart.head(head))
            try channel.writeOutbound(HTTPServerResponsePart.end(nil))
        }
    }

    @Test func aRequestWaitsForTheAnswerBeforeItAndThenForItsTurn() throws {
        let side = Side()
        let client = try side.connect()
        try client.send("/1", "/2", "/3")
        #expect(try client.passed() == ["/1"])
        side.loop.advanceTime(by: .seconds(1))
        #expect(try client.passed() == [])
        try client.answer()
        #expect(try client.passed() == [])
        side.loop.advanceTime(by: .milliseconds(1))
        #expect(try client.passed() == ["/2"])
        try client.answer()
        side.loop.advanceTime(by: .milliseconds(1))
        #expect(try client.passed() == ["/3"])
    }

    @Test func nothingIsReadWhileAnAnswerIsUnderWay() throws {
        let side = Side()
        let client = try side.connect()
        client.channel.read()
        let before = client.counter.reads
        try client.send("/1")
        client.channel.read()
        #expect(client.counter.reads == before)
        try client.answer()
        #expect(client.counter.reads == before + 1)
    }

    @Test func theRestOfABodyIsReadWhileItsAnswerIsUnderWay() throws {
        let side = Side()
        let client = try side.connect()
        let head = HTTPRequestHead(version: .http1_1, method: .POST, uri: "/1")
        try client.channel.writeInbound(HTTPServerRequestPart.head(head))
        let before = client.counter.reads
        client.channel.read()
        #expect(client.counter.reads == before + 1)
    }

    @Test func connectionsTakeTurns() throws {
        let side = Side()
        let (one, two) = (try side.connect(), try side.connect())
        try one.send("/1", "/2", "/3")
        try two.send("/a", "/b")
        #expect(try one.passed() == ["/1"])
        #expect(try two.passed() == ["/a"])
        try one.answer()
        try two.answer()
        side.loop.advanceTime(by: .milliseconds(10))
        #expect(try one.passed() == ["/2"])
        #expect(try two.passed() == [])
        try one.answer()
        side.loop.advanceTime(by: .milliseconds(1))
        #expect(try one.passed() == [])
        #expect(try two.passed() == ["/b"])
    }

    @Test func aConnectionThatEndsGivesItsTurnBack() throws {
        let side = Side()
        let (one, two) = (try side.connect(), try side.connect())
        for client in [one, two] {
            try client.send("/1", "/2")
            #expect(try client.passed() == ["/1"])
            try client.answer()
        }
        try one.channel.close().wait()
        side.loop.advanceTime(by: .milliseconds(2))
        #expect(try two.passed() == ["/2"])
        try two.channel.close().wait()
        let three = try side.connect()
        try three.send("/1", "/2")
        try three.answer()
        side.loop.advanceTime(by: .milliseconds(1))
        #expect(try three.passed() == ["/1", "/2"])
    }

    @Test func aClientThatWaitsForEachAnswerNeedsNoTurn() throws {
        let side = Side()
        let client = try side.connect()
        for path in ["/1", "/2", "/3"] {
            try client.send(path)
            #expect(try client.passed() == [path])
            try client.answer()
        }
    }

    @Test func onlyAnOldRequestGetsAHost() throws {
        let side = Side()
        #expect(try hosts(side, .http1_0, [:]) == ["localhost"])
        #expect(try hosts(side, .http1_0, ["Host": "a"]) == ["a"])
        #expect(try hosts(side, .http1_1, [:]) == [])
    }

    private func hosts(_ side: Side, _ version: HTTPVersion, _ headers: HTTPHeaders) throws -> [String] {
        let client = try side.connect()
        try client.send("/", version: version, headers: headers)
        return try client.heads().flatMap { $0.headers["Host"] }
    }

    /// A server whose turns never come answers the first of two requests, and everyone else.
    @Test func theServerHasTheQueue() async throws {
        var settings = ServerSettings()
        settings.limits.turn = .seconds(3600)
        let agent = FakeAgent()
        let server = try HTTPServer(reading: agent, listen: "127.0.0.1:0", settings: settings, logger: quiet)
        try await withRunning(server) { address in
            let request = "GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n"
            try await HTTPProbe.holding(address, request + request) {
                while agent.now.queries.isEmpty { await Task.yield() }
                let reply = try await HTTPProbe(address: address).get("/-/healthy")
                #expect(reply.status == 200)
                #expect(agent.now.queries.count == 1)
            }
        }
    }
}
