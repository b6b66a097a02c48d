package import StarwatchCore

/// A transport that tells when the certificates of the servers expire that it connects to.
package struct WatchedTransport: HTTPTransport {
    private let base: any HTTPTransport
    private let note: @Sendable (Timestamp) -> Void

    /// - Parameter note: Gets the expiry of the chain of each new connection with TLS.
    package init(_ base: any HTTPTransport, note: @escaping @Sendable (Timestamp) -> Void) {
        (self.base, self.note) = (base, note)
    }

    package var executor: (any TaskExecutor)? { base.executor }

    package func exchange(_ request: HTTPRequest) async -> HTTPExchange {
        let exchange = await base.exchange(request)
        if let expiry = exchange.certificateExpiry { note(expiry) }
        return exchange
    }

    package func shutdown() { base.shutdown() }
}
