import NIOCore
import NIOSSL
import NIOTLS

/// A handler that closes a connection whose client is too slow. It is the first handler of the pipeline.
final class ConnectionGuard: ChannelDuplexHandler {
    typealias InboundIn = NIOAny
    typealias OutboundIn = NIOAny

    /// An event that tells of the connection, from the handlers after this one.
    enum Event: Sendable {
        /// The responder has a whole request.
        case requestIsComplete
        /// The answer of the responder is an endless stream.
        case answerIsStream
        /// The handshake of TLS is over.
        case handshakeIsComplete
    }

    private let limits: ConnectionLimits
    private let isEncrypted: Bool
    private let book: ConnectionBook
    private var state: ConnectionState?
    private var place: ConnectionBook.Place?
    private var timer: Scheduled<Void>?
    private var isStream = false

    /// - Parameter isEncrypted: Whether the connection begins with a TLS handshake.
    init(limits: ConnectionLimits, book: ConnectionBook, isEncrypted: Bool = false) {
        (self.limits, self.book, self.isEncrypted) = (limits, book, isEncrypted)
    }

    func channelActive(context: ChannelHandlerContext) {
        let now = context.eventLoop.now
        state = ConnectionState(at: now, isEncrypted: isEncrypted)
        place = book.open(context.channel, at: now)
        if place == nil { context.close(promise: nil) } else { watch(context) }
        context.fireChannelActive()
    }

    func channelInactive(context: ChannelHandlerContext) {
        timer?.cancel()
        if let place { book.close(place) }
        (state, place, timer) = (nil, nil, nil)
        context.fireChannelInactive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        update(context) { $0.bytesCame(at: $1) }
        context.fireChannelRead(data)
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        update(context) { $0.pieceWasWritten(at: $1) }
        let promise = promise ?? context.eventLoop.makePromise()
        promise.futureResult.assumeIsolated().whenComplete { _ in
            self.update(context) { $0.pieceWasTaken(at: $1) }
        }
        context.write(data, promise: promise)
    }

    func triggerUserOutboundEvent(context: ChannelHandlerContext, event: Any, promise: EventLoopPromise<Void>?) {
        switch event as? Event {
        case .answerIsStream: isStream = true
        case .handshakeIsComplete: update(context) { $0.handshakeIsComplete(at: $1) }
        case .requestIsComplete: update(context) { $0.requestIsComplete(at: $1) }
        case nil: return context.triggerUserOutboundEvent(event, promise: promise)
        }
        promise?.succeed()
    }

    /// A client that closes its side can still read the rest of an answer, but an endless stream must end.
    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if isStream, event as? ChannelEvent == .inputClosed { return context.close(promise: nil) }
        context.fireUserInboundEventTriggered(event)
    }

    private func update(_ context: ChannelHandlerContext, _ change: (inout ConnectionState, NIODeadline) -> Void) {
        guard var state else { return }
        change(&state, context.eventLoop.now)
        self.state = state
        place?.note(quietSince: state.quietSince)
    }

    /// Checks the deadline again in time for any that is set meanwhile, so that requests need no timers.
    private func watch(_ context: ChannelHandlerContext) {
        guard let state else { return }
        let soon = context.eventLoop.now + TimeAmount(limits.shortest)
        let next = min(state.deadline(limits) ?? soon, soon)
        timer = context.eventLoop.assumeIsolated().scheduleTask(deadline: next) { [self] in
            guard let deadline = self.state?.deadline(limits), context.eventLoop.now >= deadline else {
                return watch(context)
            }
            context.close(promise: nil)
        }
    }
}

/// A handler that tells the ``ConnectionGuard`` of the end of the TLS handshake. It follows the TLS handler.
///
/// It also drops the error about a client that closes the connection without saying so in TLS. HTTP knows the end of a
/// message by itself.
final class TLSWatch: ChannelInboundHandler, Sendable {
    typealias InboundIn = NIOAny

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case .handshakeCompleted = event as? TLSUserEvent {
            context.triggerUserOutboundEvent(ConnectionGuard.Event.handshakeIsComplete, promise: nil)
        }
        context.fireUserInboundEventTriggered(event)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        if case .uncleanShutdown = error as? NIOSSLError { return }
        context.fireErrorCaught(error)
    }
}

/// The phase of a connection, with its start.
struct ConnectionState {
    enum Phase {
        /// Waiting for the end of the TLS handshake.
        case handshaking
        /// Waiting for a request.
        case idle
        /// Waiting for the rest of a request.
        case receiving
        /// The server works on an answer.
        case answering
        /// Waiting for the client to take the answer.
        case sending
    }

    private(set) var phase: Phase
    private(set) var since: NIODeadline
    /// The number of written pieces that the system has not taken yet.
    private var unsent = 0
    /// Whether the server works on an answer, possibly before the client has taken the previous one.
    private var isAnswering = false

    init(at now: NIODeadline, isEncrypted: Bool = false) {
        since = now
        phase = isEncrypted ? .handshaking : .idle
    }

    mutating func handshakeIsComplete(at now: NIODeadline) {
        if phase == .handshaking { enter(unsent > 0 ? .sending : .idle, at: now) }
    }

    mutating func bytesCame(at now: NIODeadline) { if phase == .idle { enter(.receiving, at: now) } }

    /// A client that pipelines requests must take the previous answers first.
    mutating func requestIsComplete(at now: NIODeadline) {
        isAnswering = true
        if unsent == 0 { enter(.answering, at: now) }
    }

    mutating func pieceWasWritten(at now: NIODeadline) {
        isAnswering = false
        unsent += 1
        if phase != .sending, phase != .handshaking { enter(.sending, at: now) }
    }

    mutating func pieceWasTaken(at now: NIODeadline) {
        unsent -= 1
        if phase == .handshaking { return }
        enter(unsent > 0 ? .sending : isAnswering ? .answering : .idle, at: now)
    }

    /// The start of the wait for the client; `nil` while the server is at work.
    var quietSince: NIODeadline? { phase == .answering ? nil : since }

    /// The deadline for the client; `nil` while the server is at work.
    func deadline(_ limits: ConnectionLimits) -> NIODeadline? {
        switch phase {
        case .idle: since + TimeAmount(limits.idle)
        case .handshaking, .receiving: since + TimeAmount(limits.request)
        case .answering: nil
        case .sending: since + TimeAmount(limits.answer)
        }
    }

    private mutating func enter(_ phase: Phase, at now: NIODeadline) {
        self.phase = phase
        since = now
    }
}
