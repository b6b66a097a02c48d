import Foundation
import NIOCore
import NIOHTTP1
import NIOPosix

/// A response, possibly incomplete.
struct Answer: Sendable {
    /// The status; 0 if no head arrived.
    var status = 0
    var headers = HTTPHeaders()
    var body = Data()
    /// Whether the response is complete.
    var isComplete = false

    /// A header's first value.
    func header(_ name: String) -> String? { headers.first(name: name) }

    /// The body as a JSON object; empty if it is not an object.
    var object: [String: Any] {
        (try? JSONSerialization.jsonObject(with: body)) as? [String: Any] ?? [:]
    }

    /// The items of a page.
    var items: [[String: Any]] { object["data"] as? [[String: Any]] ?? [] }

    /// The change identifiers of a page of plans.
    var planIDs: [String] {
        items.compactMap { (($0["planSummary"] ?? $0["plan"]) as? [String: Any])?["jwtId"] as? String }
    }

    var text: String { String(decoding: body, as: UTF8.self) }
}

/// A minimal client: it opens a connection per request and returns the raw response.
struct Probe: Sendable {
    let port: Int
    var token: String?
    var headers: [String: String] = [:]

    func get(_ target: String, headers extra: [String: String] = [:]) async throws -> Answer {
        try await send("GET", target, nil, extra)
    }

    func post(_ target: String, _ body: [String: Any], headers extra: [String: String] = [:]) async throws -> Answer {
        let data = try JSONSerialization.data(withJSONObject: body, options: [.sortedKeys])
        return try await post(target, data: data, headers: extra)
    }

    func post(_ target: String, data: Data, headers extra: [String: String] = [:]) async throws -> Answer {
        try await send("POST", target, data, extra)
    }

    func delete(_ target: String) async throws -> Answer { try await send("DELETE", target, nil, [:]) }

    private func send(
        _ method: String,
        _ target: String,
        _ body: Data?,
        _ extra: [String: String]
    ) async throws -> Answer {
        var head = HTTPRequestHead(version: .http1_1, method: HTTPMethod(rawValue: method), uri: target)
        head.headers.add(name: "Host", value: "127.0.0.1:\(port)")
        if body != nil { head.headers.add(name: "Content-Type", value: "application/json") }
        if let token { head.headers.add(name: "Authorization", value: "Bearer \(token)") }
        for (name, value) in headers.merging(extra, uniquingKeysWith: { $1 }) {
            head.headers.replaceOrAdd(name: name, value: value)
        }
        if let body { head.headers.add(name: "Content-Length", value: String(body.count)) }
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        let promise = loop.makePromise(of: Answer.self)
        let connecting = ClientBootstrap(group: loop)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHTTPClientHandlers()
                    try channel.pipeline.syncOperations.addHandler(AnswerCollector(promise))
                }
            }
            .connect(host: "127.0.0.1", port: port)
        connecting.whenFailure { promise.fail($0) }
        let channel = try await connecting.get()
        channel.write(HTTPClientRequestPart.head(head), promise: nil)
        if let body { channel.write(HTTPClientRequestPart.body(.byteBuffer(ByteBuffer(bytes: body))), promise: nil) }
        channel.writeAndFlush(HTTPClientRequestPart.end(nil), promise: nil)
        return try await withTaskCancellationHandler {
            let answer = try await promise.futureResult.get()
            channel.close(promise: nil)
            return answer
        } onCancel: {
            channel.close(promise: nil)
        }
    }
}

/// Collects one response. A connection that closes early gives an incomplete response.
private final class AnswerCollector: ChannelInboundHandler {
    typealias InboundIn = HTTPClientResponsePart

    private let promise: EventLoopPromise<Answer>
    private var answer = Answer()

    init(_ promise: EventLoopPromise<Answer>) {
        self.promise = promise
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head):
            answer.status = Int(head.status.code)
            answer.headers = head.headers
        case .body(let part):
            answer.body.append(contentsOf: part.readableBytesView)
        case .end:
            answer.isComplete = true
            promise.succeed(answer)
        }
    }

    func channelInactive(context: ChannelHandlerContext) { promise.succeed(answer) }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        promise.succeed(answer)
        context.close(promise: nil)
    }
}
