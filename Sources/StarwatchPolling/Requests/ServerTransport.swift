package import StarwatchTransport

/// Sends requests to one server with trust anchors, pinned keys and a proxy of its own, and all others with the system's.
package struct ServerTransport: HTTPTransport {
    private let origin: String
    private let server: any HTTPTransport
    /// The transport to every other server; `nil` if it is the same one.
    private let others: (any HTTPTransport)?

    package init(to url: ServerURL, _ server: any HTTPTransport, others: (any HTTPTransport)?) {
        origin = ServerURL.withoutDefaultPort(url.origin)
        (self.server, self.others) = (server, others)
    }

    /// - Parameter trust: The settings for `url`, its path and everything else of that origin.
    package init(to url: ServerURL, trust: HTTPClientOptions, time: any TimeSource) throws(APIFailure) {
        let server = try HTTPClient(options: trust, time: time)
        let isPlain = trust.caFile == nil && trust.pinnedPublicKey == nil && trust.proxy == nil
        let others = HTTPClientOptions(maxInFlight: trust.maxInFlight)
        self.init(to: url, server, others: isPlain ? nil : try HTTPClient(options: others, time: time))
    }

    /// The executor of answers from the server.
    package var executor: (any TaskExecutor)? { server.executor }

    package func exchange(_ request: HTTPRequest) async -> HTTPExchange {
        await transport(for: request.url).exchange(request)
    }

    private func transport(for url: String) -> any HTTPTransport {
        guard let others, let origin = ServerURL.origin(of: url), ServerURL.withoutDefaultPort(origin) != self.origin
        else { return server }
        return others
    }

    package func shutdown() {
        server.shutdown()
        others?.shutdown()
    }
}

extension HTTPClient {
    /// Starts a client that reads the clocks of `time`.
    package convenience init(options: HTTPClientOptions = HTTPClientOptions(), time: any TimeSource) throws(APIFailure)
    {
        try self.init(options: options, clock: { ClockReading(wall: time.now, monotonic: time.monotonic) })
    }
}
