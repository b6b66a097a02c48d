import NIOCore
import NIOSSL
import NIOTLS

/// A handler that tells the ``ConnectionGuard`` of the end of the TLS handshake. It follows the TLS handler.
///
/// It also drops the error about a client that closes the connection without saying so in TLS. HTTP knows the end of a
/// message by itself.
final class TLSWatch: ChannelInboundHandler, Sendable {
    typealias InboundIn = NIOAny

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case .handshakeCompleted = event as? TLSUserEvent {
            context.triggerUserOutboundEvent(ConnectionGuard.HandshakeIsComplete(), promise: nil)
        }
        context.fireUserInboundEventTriggered(event)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        if case .uncleanShutdown = error as? NIOSSLError { return }
        context.fireErrorCaught(error)
    }
}
