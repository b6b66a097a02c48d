import NIOCore
import NIOHTTP1

/// Collects the requests of one connection and sends their responses.
final class HTTPRequestHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart

    private let bodyLimitBytes: @Sendable (_ path: String) -> Int
    private let respond: @Sendable (IncomingRequest) -> Reply
    private var head: HTTPRequestHead?
    private var path = ""
    private var query: String?
    private var body: [UInt8] = []
    private var limitBytes = 0
    private var isTooLong = false

    init(
        bodyLimitBytes: @escaping @Sendable (_ path: String) -> Int,
        respond: @escaping @Sendable (IncomingRequest) -> Reply
    ) {
        self.bodyLimitBytes = bodyLimitBytes
        self.respond = respond
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head): begin(head, context)
        case .body(let part):
            // Bytes beyond the limit are read and discarded, so that the client receives its response.
            if body.count + part.readableBytes <= limitBytes, !isTooLong {
                body.append(contentsOf: part.readableBytesView)
            } else {
                isTooLong = true
            }
        case .end: finish(context)
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

    private func begin(_ head: HTTPRequestHead, _ context: ChannelHandlerContext) {
        self.head = head
        let parts = head.uri.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        path = String(parts.first ?? "/")
        query = parts.count == 2 ? String(parts[1]) : nil
        limitBytes = bodyLimitBytes(path)
        body = []
        isTooLong = false
        if head.headers["expect"].contains(where: { $0.lowercased() == "100-continue" }) {
            let interim = HTTPResponseHead(version: head.version, status: .continue)
            context.channel.writeAndFlush(HTTPServerResponsePart.head(interim), promise: nil)
        }
    }

    private func finish(_ context: ChannelHandlerContext) {
        // NIO's decoder sends a head before every end.
        guard let head else { return }
        let request = IncomingRequest(
            method: head.method.rawValue,
            path: path,
            query: query,
            headers: head.headers.map { ($0.name, $0.value) },
            body: body,
            isBodyTooLong: isTooLong
        )
        let reply = respond(request)
        ReplyWriter(channel: context.channel, keepsAlive: head.isKeepAlive).send(reply)
        self.head = nil
        body = []
    }
}
