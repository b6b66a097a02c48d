import StarwatchTransport

extension ControlClient {
    /// Calls `body` with every event of the feed as it arrives, and returns when the agent ends the stream.
    ///
    /// Events that arrive faster than `body` takes them wait in memory. The agent keeps a limited number of them.
    ///
    /// - Parameter sequence: The sequence of the last event before; `nil` for new events only.
    package func followFeed(
        after sequence: Int64?,
        _ body: (FeedEvent) async -> Void
    ) async throws(ControlError) {
        let (pieces, arrival) = AsyncStream.makeStream(of: [UInt8].self)
        var request = request(.get, "/api/v1/notifications/events")
        request.headers[0] = ("Accept", "text/event-stream")
        if let sequence { request.headers.append(("Last-Event-ID", String(sequence))) }
        request.onBody = { arrival.yield($0) }
        let client = try client()
        async let end = {
            let exchange = await client.exchange(request)
            arrival.finish()
            return exchange
        }()
        var parser = FeedEventParser()
        for await piece in pieces {
            guard let events = parser.take(piece) else { throw .unintelligible }
            for event in events { await body(event) }
        }
        _ = try response(of: await end)
    }
}
