import NIOCore
import NIOHTTP1
import NIOPosix
import ProgramTestKit

/// An HTTP client that shows what was on the wire, over TCP (`host:port`) or a Unix socket (a path).
struct HTTPProbe {
    struct Reply {
        var status: UInt
        var headers: HTTPHeaders
        var bytes: [UInt8]
        var text: String { String(decoding: bytes, as: UTF8.self) }
    }

    struct NoReply: Error {}

    var address: String
    /// The address to connect from; `nil` for any.
    var source: String?

    func get(_ target: String, _ headers: HTTPHeaders = [:]) async throws -> Reply {
        try await send(.GET, target, headers)
    }

    /// The beginning of an answer that has no end; the connection is closed when it is there.
    func beginning(of target: String, _ headers: HTTPHeaders = [:]) async throws -> Reply {
        try await send(.GET, target, headers, untilFirstPiece: true)
    }

    func send(
        _ method: HTTPMethod,
        _ target: String,
        _ headers: HTTPHeaders = [:],
        body: String = "",
        untilFirstPiece: Bool = false
    ) async throws
        -> Reply
    {
        typealias Client = NIOAsyncChannel<HTTPClientResponsePart, HTTPClientRequestPart>
        let client = try await connect { channel in
            channel.eventLoop.makeCompletedFuture {
                // HEAD's answers have a length and no body; only the decoder that knows the method gets that right.
                try channel.pipeline.syncOperations.addHTTPClientHandlers()
                return try Client(wrappingChannelSynchronously: channel)
            }
        }
        return try await client.executeThenClose { inbound, outbound in
            var head = HTTPRequestHead(version: .http1_1, method: method, uri: target, headers: headers)
            if !headers.contains(name: "Host") { head.headers.add(name: "Host", value: "localhost") }
            head.headers.add(name: "Content-Length", value: String(body.utf8.count))
            do {
                try await outbound.write(.head(head))
                try await outbound.write(.body(.byteBuffer(ByteBuffer(string: body))))
                try await outbound.write(.end(nil))
            } catch {
                // A server that refuses a request answers and closes before it has read all of it.
            }
            var reply: Reply?
            for try await part in inbound {
                switch part {
                case .head(let head): reply = Reply(status: head.status.code, headers: head.headers, bytes: [])
                case .body(let piece):
                    reply?.bytes += Array(piece.readableBytesView)
                    if untilFirstPiece, let reply { return reply }
                case .end:
                    if let reply { return reply }
                }
            }
            throw NoReply()
        }
    }

    /// Connects, writes `text` as it is, and returns what comes until the server closes.
    func exchange(_ text: String) async throws -> String {
        typealias Client = NIOAsyncChannel<ByteBuffer, ByteBuffer>
        let client = try await connect { channel in
            channel.eventLoop.makeCompletedFuture { try Client(wrappingChannelSynchronously: channel) }
        }
        return try await client.executeThenClose { inbound, outbound in
            var answer = ByteBuffer()
            // A server that does not read to the end closes or resets the connection, maybe before anything is written. What
            // it has said by then can be read all the same.
            if !text.isEmpty { try? await outbound.write(ByteBuffer(string: text)) }
            do {
                for try await piece in inbound { answer.writeImmutableBuffer(piece) }
            } catch is IOError {
            } catch is ChannelError {
            }
            return String(buffer: answer)
        }
    }

    /// Connects, writes `text`, and then neither reads nor closes until `body` is over.
    static func holding<Result>(
        _ address: String,
        _ text: String,
        _ body: () async throws -> Result
    ) async throws
        -> Result
    {
        let channel = try await bootstrap.channelOption(ChannelOptions.autoRead, value: false)
            .connect(host: "127.0.0.1", port: Int(address.split(separator: ":").last ?? "") ?? 0).get()
        // The server may have closed the connection, which then takes no place.
        try? await channel.writeAndFlush(ByteBuffer(string: text))
        do {
            let result = try await body()
            try? await channel.close()
            return result
        } catch {
            try? await channel.close()
            throw error
        }
    }

    private static var bootstrap: ClientBootstrap {
        ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .connectTimeout(.seconds(longestWait.components.seconds))
    }

    private func connect<Output: Sendable>(
        _ initialize: @escaping @Sendable (any Channel) -> EventLoopFuture<Output>
    ) async throws -> Output {
        if address.hasPrefix("/") {
            return try await Self.bootstrap.connect(unixDomainSocketPath: address, channelInitializer: initialize)
        }
        let port = address.split(separator: ":").last.flatMap { Int($0) } ?? 0
        var bootstrap = Self.bootstrap
        if let source { bootstrap = bootstrap.bind(to: try SocketAddress(ipAddress: source, port: 0)) }
        return try await bootstrap.connect(host: "127.0.0.1", port: port, channelInitializer: initialize)
    }
}
