import Foundation
import NIOCore
import NIOHTTP1

/// Sends one response on a connection, including its faults. Its functions run on the channel's event loop.
struct ReplyWriter: Sendable {
    private static let fillerChunkBytes = 1 << 16

    let channel: any Channel
    /// Whether the connection stays open after the response.
    let keepsAlive: Bool

    /// Sends `reply` after its delay.
    func send(_ reply: Reply) {
        guard reply.delay > .zero else { return start(reply) }
        channel.eventLoop.scheduleTask(in: TimeAmount(reply.delay)) { start(reply) }
    }

    private func start(_ reply: Reply) {
        switch reply.delivery {
        case .whole:
            writeHead(reply, lengthBytes: reply.body.count)
            if !reply.body.isEmpty { write(ByteBuffer(bytes: reply.body)) }
            end()
        case .chunked:
            writeHead(reply, lengthBytes: nil)
            write(ByteBuffer(bytes: reply.body))
            end()
        case .drip(let chunkBytes, let interval):
            writeHead(reply, lengthBytes: reply.body.count)
            drip(ByteBuffer(bytes: reply.body), chunkBytes: chunkBytes, every: TimeAmount(interval))
        case .reset(headFirst: false, _): reset()
        case .reset(headFirst: true, let bytes):
            writeHead(reply, lengthBytes: max(reply.body.count, bytes + 1))
            let part = HTTPServerResponsePart.body(.byteBuffer(ByteBuffer(bytes: reply.body.prefix(bytes))))
            channel.writeAndFlush(part).whenComplete { _ in reset() }
        case .filler(let bytes, let declaresLength): fill(reply, bytes: bytes, declaresLength: declaresLength)
        case .never: break
        case .raw(.drip(let interval)): dripRaw(ByteBuffer(bytes: reply.body), every: TimeAmount(interval))
        case .raw(let ending):
            writeRaw(ByteBuffer(bytes: reply.body)).whenComplete { _ in
                switch ending {
                case .close: channel.close(promise: nil)
                case .reset: reset()
                case .open, .drip: break
                }
            }
        }
    }

    /// Writes bytes past the encoder, which would add HTTP framing.
    private func writeRaw(_ buffer: ByteBuffer) -> EventLoopFuture<Void> {
        do {
            let context = try channel.pipeline.syncOperations.context(handlerType: HTTPResponseEncoder.self)
            return context.writeAndFlush(NIOAny(IOData.byteBuffer(buffer)))
        } catch {
            return channel.eventLoop.makeFailedFuture(error)
        }
    }

    private func dripRaw(_ buffer: ByteBuffer, every interval: TimeAmount) {
        // A closed connection ends the repetition.
        guard channel.isActive else { return }
        var rest = buffer
        if let byte = rest.readSlice(length: 1) { _ = writeRaw(byte) }
        let next = rest.readableBytes > 0 ? rest : buffer
        channel.eventLoop.scheduleTask(in: interval) { dripRaw(next, every: interval) }
    }

    private func writeHead(_ reply: Reply, lengthBytes: Int?) {
        var headers = HTTPHeaders(reply.headers)
        if let lengthBytes, reply.status != 204, reply.status != 304 {
            headers.replaceOrAdd(name: "Content-Length", value: String(lengthBytes))
        }
        if !keepsAlive { headers.replaceOrAdd(name: "Connection", value: "close") }
        let head = HTTPResponseHead(
            version: .http1_1,
            status: HTTPResponseStatus(statusCode: reply.status),
            headers: headers
        )
        channel.write(HTTPServerResponsePart.head(head), promise: nil)
    }

    private func write(_ buffer: ByteBuffer) {
        channel.write(HTTPServerResponsePart.body(.byteBuffer(buffer)), promise: nil)
    }

    private func end() {
        let written = channel.writeAndFlush(HTTPServerResponsePart.end(nil))
        if !keepsAlive { written.whenComplete { _ in channel.close(promise: nil) } }
    }

    private func drip(_ buffer: ByteBuffer, chunkBytes: Int, every interval: TimeAmount) {
        // A closed connection ends the repetition.
        guard channel.isActive else { return }
        var rest = buffer
        guard let chunk = rest.readSlice(length: min(chunkBytes, rest.readableBytes)), chunk.readableBytes > 0 else {
            return end()
        }
        channel.writeAndFlush(HTTPServerResponsePart.body(.byteBuffer(chunk)), promise: nil)
        let remaining = rest
        channel.eventLoop.scheduleTask(in: interval) { drip(remaining, chunkBytes: chunkBytes, every: interval) }
    }

    private func fill(_ reply: Reply, bytes: Int, declaresLength: Bool) {
        let head = ByteBuffer(string: JSONFiller.head)
        let tail = ByteBuffer(string: JSONFiller.tail)
        let length = head.readableBytes + bytes + tail.readableBytes
        writeHead(reply, lengthBytes: declaresLength ? length : nil)
        write(head)
        // All writes share the same storage.
        let blanks = ByteBuffer(repeating: UInt8(ascii: " "), count: Self.fillerChunkBytes)
        var left = bytes
        while left > 0 {
            write(blanks.getSlice(at: 0, length: min(left, Self.fillerChunkBytes)) ?? blanks)
            left -= Self.fillerChunkBytes
        }
        write(tail)
        end()
    }

    /// Closes the connection with RST: with a linger time of zero, closing a socket discards unsent data.
    private func reset() {
        let option = (channel as? any SocketOptionProvider)?.setSoLinger(linger(l_onoff: 1, l_linger: 0))
        let ready = option ?? channel.eventLoop.makeSucceededVoidFuture()
        ready.whenComplete { _ in channel.close(mode: .all, promise: nil) }
    }
}
