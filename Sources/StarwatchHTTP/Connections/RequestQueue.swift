import NIOCore
import NIOHTTP1
import Synchronization

/// A handler that passes on one request of a connection at a time. It follows the decoder.
///
/// While an answer is under way, nothing more is read, and what came with the request waits. A request that waited needs
/// a turn of the server, so that a client that sends thousands at once does not delay the others.
///
/// NIO's `HTTPServerPipelineHandler` passes on the next request while it writes the end of an answer. What it held back
/// would have to be held a second time, for its turn.
final class RequestQueue: ChannelDuplexHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart
    typealias OutboundIn = HTTPServerResponsePart
    typealias OutboundOut = HTTPServerResponsePart

    private enum Held {
        case part(HTTPServerRequestPart)
        case inputClosed
        case error(any Error)
    }

    private let turns: RequestTurns
    private var held: CircularBuffer<Held> = []
    /// `true` from a request's head to its end.
    private var isReceiving = false
    /// `true` from a request's head to its answer's end.
    private var isAnswering = false
    private var isWaiting = false
    private var hasTurn = false
    private var wantsRead = false
    private var isClosed = false

    init(turns: RequestTurns) { self.turns = turns }

    // MARK: - Inbound

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let part = unwrapInboundIn(data)
        guard held.isEmpty, isReceiving || !isAnswering else { return held.append(.part(part)) }
        pass(part, context)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        guard held.isEmpty else { return held.append(.error(error)) }
        context.fireErrorCaught(error)
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        guard !held.isEmpty, event as? ChannelEvent == .inputClosed else {
            return context.fireUserInboundEventTriggered(event)
        }
        held.append(.inputClosed)
    }

    func channelInactive(context: ChannelHandlerContext) {
        isClosed = true
        held.removeAll()
        endTurn()
        context.fireChannelInactive()
    }

    private func pass(_ part: HTTPServerRequestPart, _ context: ChannelHandlerContext) {
        var part = part
        switch part {
        case .head(var head):
            (isReceiving, isAnswering) = (true, true)
            let hosts = head.headers["Host"].count
            // The one that is checked could be another one than the client meant. Without any, the answer is 400.
            if hosts > 1 { head.headers.remove(name: "Host") }
            // Only HTTP/1.1 requires the header, and what follows does not know the version.
            if hosts == 0, head.version.minor == 0, head.version.major == 1 {
                head.headers.add(name: "Host", value: "localhost")
            }
            part = .head(head)
        case .body: break
        case .end: isReceiving = false
        }
        context.fireChannelRead(wrapInboundOut(part))
    }

    // MARK: - Outbound

    func read(context: ChannelHandlerContext) {
        if held.isEmpty, isReceiving || !isAnswering { context.read() } else { wantsRead = true }
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        let part = unwrapOutboundIn(data)
        context.write(data, promise: promise)
        switch part {
        case .head(let head) where head.status.code >= 200: endTurn()
        case .head, .body: break
        case .end:
            isAnswering = false
            resume(context)
        }
    }

    /// Waits for a turn if something is held, else reads on.
    private func resume(_ context: ChannelHandlerContext) {
        guard !isClosed else { return }
        guard held.isEmpty else {
            guard !isWaiting else { return }
            isWaiting = true
            let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
            return turns.wait(on: context.eventLoop) {
                let (queue, context) = bound.value
                queue.begin(context)
            }
        }
        guard wantsRead else { return }
        wantsRead = false
        context.read()
    }

    private func begin(_ context: ChannelHandlerContext) {
        (isWaiting, hasTurn) = (false, true)
        while let next = held.first {
            if case .part(.head) = next, isAnswering { break }
            held.removeFirst()
            switch next {
            case .part(let part): pass(part, context)
            case .inputClosed: context.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
            case .error(let error): context.fireErrorCaught(error)
            }
        }
        context.fireChannelReadComplete()
        if !isAnswering {
            endTurn()
            resume(context)
        }
    }

    private func endTurn() {
        guard hasTurn else { return }
        hasTurn = false
        turns.end()
    }
}

/// The turns of requests that clients sent before they had the previous answer.
///
/// One of them begins at a time, after a pause in which the event loop serves everyone else. Without the pause it would
/// answer all requests of a connection before it looks at another one, because nothing in between waits.
///
/// A turn lasts until its answer begins, so a slow request of the control API delays others that were sent too early, and
/// nothing else.
final class RequestTurns: Sendable {
    private typealias Waiter = (eventLoop: any EventLoop, begin: @Sendable () -> Void)

    private let pause: TimeAmount
    private let state = Mutex<(isTaken: Bool, waiters: CircularBuffer<Waiter>)>((false, []))

    init(pause: Duration) { self.pause = TimeAmount(pause) }

    /// Calls `begin` on the event loop when the turn has come. The caller then has to call ``end()``.
    func wait(on eventLoop: any EventLoop, _ begin: @escaping @Sendable () -> Void) {
        state.withLock { $0.waiters.append((eventLoop, begin)) }
        beginNext()
    }

    func end() {
        state.withLock { $0.isTaken = false }
        beginNext()
    }

    private func beginNext() {
        let next = state.withLock { state -> Waiter? in
            guard !state.isTaken, let next = state.waiters.popFirst() else { return nil }
            state.isTaken = true
            return next
        }
        if let next { next.eventLoop.scheduleTask(in: pause, next.begin) }
    }
}
