import FoundationEssentials
import NIOCore
import NIOHTTP1
package import Starwatch

extension ControlClient {
    /// Calls `body` with every event of the feed as it comes, and returns when the agent ends the stream.
    ///
    /// - Parameter sequence: What came last before; `nil`: only what comes from now on.
    package func followFeed(
        after sequence: Int64?,
        _ body: (FeedEvent) async -> Void
    ) async throws(ControlClientError) {
        let channel = try await connect()
        do {
            try await channel.executeThenClose { inbound, outbound in
                var head = HTTPRequestHead(version: .http1_1, method: .GET, uri: "/api/v1/notifications/events")
                head.headers = ["Host": "localhost", "Connection": "close", "Accept": "text/event-stream"]
                if let sequence { head.headers.add(name: "Last-Event-ID", value: String(sequence)) }
                try await outbound.write(.head(head))
                try await outbound.write(.end(nil))
                var status: UInt = 0
                var refusal = ByteBuffer()
                var parser = FeedEventParser()
                for try await part in inbound {
                    switch part {
                    case .head(let head): status = head.status.code
                    case .body(var piece) where status != 200: refusal.writeBuffer(&piece)
                    case .body(let piece):
                        guard let events = parser.take(piece.readableBytesView) else {
                            throw ControlClientError.unintelligible
                        }
                        for event in events { await body(event) }
                    case .end:
                        if status != 200 { throw Self.refusal(Data(refusal.readableBytesView)) }
                        return
                    }
                }
                try Task.checkCancellation()
                throw ControlClientError.hungUp
            }
        } catch let error as ControlClientError {
            throw error
        } catch {
            throw Task.isCancelled || error is CancellationError ? .cancelled : .hungUp
        }
    }
}
