import FoundationEssentials
import Hummingbird
import ServiceLifecycle
import Starwatch

extension ControlRoutes {
    /// The last notifications, as a list, as a stream of events and as a page.
    var feed: [Route] {
        [
            Route(
                "/api/v1/notifications",
                [
                    "GET": { call throws(ControlError) in
                        let parameters = try Parameters(call, allowing: ["limit", "before"])
                        var query = FeedQuery()
                        query.limit = try parameters.number("limit").map { Int($0) } ?? query.limit
                        query.before = try parameters.number("before")
                        return .json(FeedListing(notifications: try await agent.feed(query)))
                    }
                ]
            ),
            Route("/api/v1/notifications/events", ["GET": { call throws(ControlError) in try await events(call) }]),
            Route("/feed", ["GET": { _ throws(ControlError) in try await feedPage() }]),
        ]
    }

    /// Server-sent events, until the client or the agent has had enough.
    private func events(_ call: Call) async throws(ControlError) -> Answer {
        let parameters = try Parameters(call, allowing: ["after"])
        var after = try parameters.number("after")
        // What a client says when it comes back; what is not a number is not ours, and means nothing to us.
        if let last = call.headers[.lastEventID] { after = Parameters.number(last) ?? after }
        var answer = Answer(contentType: "text/event-stream", body: [])
        // A HEAD has no stream, so it must not hold a reader.
        guard call.method != "HEAD" else { return answer }
        let reader = try await agent.followFeed(after: after)
        let stream = FeedStream(reader)
        answer.whenClosed = { reader.end() }
        answer.stream = {
            // Each piece by itself: a stop ends the wait for the next one.
            await withGracefulShutdownHandler {
                await stream.next()
            } onGracefulShutdown: {
                reader.end()
            }
        }
        return answer
    }

    private func feedPage() async throws(ControlError) -> Answer {
        let status = await agent.status()
        do throws(ControlError) {
            let entries = try await agent.feed(FeedQuery())
            return .page(canControl: true) {
                FeedPage(entries: entries, now: status.now, dashboards: dashboards).html(nonce: $0)
            }
        } catch  where error.kind == .conflict {
            return .page(canControl: true) {
                FeedPage(entries: nil, now: status.now, dashboards: dashboards).html(nonce: $0)
            }
        }
    }
}
