import FoundationEssentials
import Hummingbird
import ServiceLifecycle
import Starwatch

extension ControlRoutes {
    /// The latest notifications, as a list, as a stream of events and as a page.
    var feed: [Route] {
        [
            .json("GET", "/api/v1/notifications") { call throws(ControlError) in
                FeedListing(notifications: try await agent.feed(try NotificationQuery(call)))
            },
            Route("GET", "/api/v1/notifications/events") { call throws(ControlError) in try await events(call) },
            Route("GET", "/feed") { _ throws(ControlError) in try await feedPage() },
        ]
    }

    /// Server-sent events, until the client or the agent ends the stream.
    private func events(_ call: Call) async throws(ControlError) -> Answer {
        let parameters = try Parameters(call, allowing: ["after"])
        var after = try parameters.number("after")
        // A client that reconnects sends the last id. One that is not a number is not ours.
        if let last = call.headers[.lastEventID] { after = Parameters.number(last) ?? after }
        var answer = Answer(contentType: "text/event-stream", body: [])
        // A HEAD has no stream, so it must not take a reader.
        guard call.method != "HEAD" else { return answer }
        let reader = try await agent.followFeed(after: after)
        let stream = FeedStream(reader)
        answer.whenClosed = { reader.end() }
        answer.stream = {
            // A shutdown ends the wait for the next piece.
            await withGracefulShutdownHandler {
                await stream.next()
            } onGracefulShutdown: {
                reader.end()
            }
        }
        return answer
    }

    private func feedPage() async throws(ControlError) -> Answer {
        let status = try await agent.status()
        let entries: [FeedEntry]?
        do throws(ControlError) {
            entries = try await agent.feed(NotificationQuery())
        } catch  where error.kind == .conflict {
            entries = nil
        }
        let now = status.clock.serverTime ?? status.now
        return .page(canControl: true) {
            FeedPage(entries: entries, now: now, dashboards: dashboards).html(nonce: $0)
        }
    }
}
