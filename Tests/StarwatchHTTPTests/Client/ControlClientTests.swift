import Glibc
import NIOCore
import NIOPosix
import ProgramTestKit
import StarwatchCore
import Testing

@testable import Starwatch
@testable import StarwatchHTTP

/// The client against servers that are no agent, or one at its end.
@Suite(.timeLimit(.minutes(5)))
struct ControlClientTests {
    /// Runs a server that answers the text `answer` as soon as it has a whole request, and closes at once.
    private func withServer(
        _ answer: String,
        _ body: (ControlClient) async throws -> Void
    ) async throws {
        try await withDirectory { directory in
            let path = directory + "/s.sock"
            let server = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
                .childChannelInitializer { channel in
                    channel.eventLoop.makeCompletedFuture {
                        try channel.pipeline.syncOperations.addHandler(OneAnswer(text: answer))
                    }
                }
                .bind(unixDomainSocketPath: path).get()
            do {
                try await body(ControlClient(socketPath: path, timeout: longestWait))
                try await server.close()
            } catch {
                try await server.close()
                throw error
            }
        }
    }

    private func reply(_ body: String, _ status: String = "200 OK") -> String {
        "HTTP/1.1 \(status)\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
    }

    /// A command that was carried out must never be reported as failed.
    @Test func anAnswerFollowedByTheEndIsNeverLost() async throws {
        try await withServer(reply("{\"plan_ids\":[\"p/1\"]}")) { client in
            let change = StarsChange(operation: .set, planIDs: ["p/1"])
            for _ in 0..<100 {
                try await withThrowingTaskGroup(of: [String].self) { group in
                    for _ in 0..<4 {
                        group.addTask { try await client.perform(ControlAPI.changeStars, change).planIDs }
                    }
                    for try await stars in group { #expect(stars == ["p/1"]) }
                }
            }
        }
    }

    @Test(arguments: [
        ("", ControlError.hungUp), ("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{", .hungUp),
        ("SSH-2.0-OpenSSH_9.2\r\n", .unintelligible),
        ("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}", .unintelligible),
        ("HTTP/1.1 404 Not Found\r\nContent-Length: 5\r\n\r\nnone\n", .unintelligible),
        ("HTTP/1.1 302 Found\r\nLocation: /x\r\nContent-Length: 0\r\n\r\n", .unintelligible),
    ])
    func whatIsNoAnswerIsOneClearError(answer: String, expected: ControlError) async throws {
        try await withServer(answer) { client in
            let error = await #expect(throws: ControlError.self) { try await client.perform(ControlAPI.status) }
            #expect(error == expected)
        }
    }

    /// Such a kind would send a command to the database while an agent runs.
    @Test(arguments: ["unreachable", "hung_up", "forbidden", ""])
    func aServerCannotSayThatItIsNotThere(kind: String) async throws {
        let body = "{\"error\":{\"kind\":\"\(kind)\",\"message\":\"No.\"}}"
        try await withServer(reply(body, "403 Forbidden")) { client in
            let error = await #expect(throws: ControlError.self) { try await client.perform(ControlAPI.reload) }
            #expect(error == ControlError(.failed, "No."))
        }
    }

    @Test func withoutAnAgentTheClientSaysSo() async throws {
        try await withDirectory { directory in
            let error = await #expect(throws: ControlError.self) {
                try await ControlClient(socketPath: directory + "/s.sock").perform(ControlAPI.status)
            }
            #expect(error == .unreachable(directory + "/s.sock", "No such file or directory"))
        }
    }

    @Test func anAgentThatStopsHangsUpOnACycleItDoesNotFinish() async throws {
        let agent = FakeAgent { $0.pollHangs = true }
        try await withDirectory { directory in
            let path = directory + "/s.sock"
            let server = HTTPServer(
                agent: agent,
                socketPath: path,
                settings: ServerSettings(shutdownGrace: .milliseconds(20)),
                logger: quiet
            )
            try await withThrowingTaskGroup(of: ControlError?.self) { group in
                try await withRunning(server) { _ in
                    group.addTask {
                        await runSlowPoll(path)
                    }
                    var began = agent.pollBegan.stream.makeAsyncIterator()
                    _ = await began.next()
                }
                // The cycle ends by cancellation; its answer or the end of the connection, whichever comes first.
                let error = try await group.next() ?? nil
                #expect(error == nil || error == .hungUp)
            }
        }
    }

    @Test func aCallCanBeCancelled() async throws {
        let agent = FakeAgent { $0.pollHangs = true }
        try await withDirectory { directory in
            let path = directory + "/s.sock"
            let server = HTTPServer(
                agent: agent,
                socketPath: path,
                settings: ServerSettings(shutdownGrace: .zero),
                logger: quiet
            )
            try await withRunning(server) { _ in
                let error = await withTaskGroup(of: ControlError?.self) { group in
                    group.addTask {
                        await runSlowPoll(path)
                    }
                    var began = agent.pollBegan.stream.makeAsyncIterator()
                    _ = await began.next()
                    group.cancelAll()
                    return await group.next() ?? nil
                }
                #expect(error == .cancelled)
            }
        }
    }

    private func runSlowPoll(_ path: String) async -> ControlError? {
        do throws(ControlError) {
            _ = try await ControlClient(socketPath: path).perform(ControlAPI.runPoll, PollRun("slow"))
            return nil
        } catch {
            return error
        }
    }

    /// Gives `body` the path of a socket on which nobody accepts connections.
    private func withSilence(backlog: Int32, _ body: (String) async throws -> Void) async throws {
        try await withDirectory { directory in
            let path = directory + "/s.sock"
            let listener = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
            defer { close(listener) }
            #expect(Self.with(path) { bind(listener, $0, $1) } == 0 && listen(listener, backlog) == 0)
            try await body(path)
        }
    }

    private static func with(_ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32 {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        return withUnsafePointer(to: address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
    }

    private static func failure(_ call: @Sendable () async throws -> Void) async -> ControlError? {
        do { try await call() } catch { return error as? ControlError }
        return nil
    }

    @Test func aSilentAgentIsOneClearErrorAfterTheTimeout() async throws {
        try await withSilence(backlog: 8) { path in
            // Long enough to connect and to send on a busy machine.
            let limit = Duration.seconds(2)
            let client = ControlClient(socketPath: path, timeout: limit)
            // Each waits to its limit, so they wait at once.
            async let reading = Self.failure { _ = try await client.perform(ControlAPI.status) }
            async let changing = Self.failure { _ = try await client.perform(ControlAPI.reload) }
            async let following = Self.failure { try await client.followFeed(after: nil) { _ in } }
            let (read, change, feed) = await (reading, changing, following)
            #expect(read == .timedOut(path, limit, isRead: true))
            #expect(read?.message.contains("did not answer within 2s; it may be stopped or overloaded.") == true)
            #expect(change == .timedOut(path, limit, isRead: false))
            #expect(change?.message.hasSuffix("It can still do what it was asked for.") == true)
            #expect(feed == .timedOut(path, limit, isRead: true))
        }
    }

    @Test func anAgentWhoseQueueIsFullIsThereAndDoesNotAnswer() async throws {
        try await withSilence(backlog: 0) { path in
            var waiting: [Int32] = []
            defer { waiting.forEach { _ = close($0) } }
            while true {
                let client = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue), 0)
                waiting.append(client)
                guard Self.with(path, { connect(client, $0, $1) }) == 0 else { break }
            }
            let client = ControlClient(socketPath: path, timeout: .milliseconds(50))
            let error = await #expect(throws: ControlError.self) { try await client.perform(ControlAPI.status) }
            #expect(error?.kind == .timedOut, "\(String(describing: error))")
            #expect(ControlSocket.hasListener(at: path))
        }
    }

    @Test func whatTakesLongerHasALongerLimitAndNothingHasNone() {
        #expect(ControlAPI.status.patience == .seconds(10))
        #expect(ControlAPI.listLogs.patience == .seconds(10))
        #expect(ControlAPI.runPoll.patience == .seconds(900))
        #expect(ControlAPI.tryPoll.patience == .seconds(120))
        // Three notifications, each with the longest time limit of a sink.
        #expect(ControlAPI.testSink.patience == .seconds(1860))
        for verb in ControlAPI.controls { checkPatience(of: verb) }
    }

    private func checkPatience(of verb: some AnyVerb) {
        let limits = Duration.seconds(10)...Duration.seconds(1860)
        #expect(limits.contains(verb.verb.patience), "\(verb.verb.path)")
    }

    @Test func aPathThatIsTooLongIsUnreachable() async {
        let path = "/" + String(repeating: "x", count: 200)
        let error = await #expect(throws: ControlError.self) {
            try await ControlClient(socketPath: path).perform(ControlAPI.status)
        }
        #expect(error?.kind == .unreachable)
        #expect(error?.message.contains(path) == true)
    }
}

/// Answers once and closes.
private final class OneAnswer: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let text: String
    private var received = ""

    init(text: String) { self.text = text }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        received += String(buffer: unwrapInboundIn(data))
        guard let end = received.firstRange(of: "\r\n\r\n") else { return }
        let length = received.firstMatch(of: /(?i)content-length: (\d+)/).flatMap { Int($0.1) } ?? 0
        guard received[end.upperBound...].utf8.count >= length else { return }
        context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: text)), promise: nil)
        context.close(promise: nil)
    }
}
