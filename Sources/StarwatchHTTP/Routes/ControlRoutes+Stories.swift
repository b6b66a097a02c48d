import Hummingbird
import Starwatch

extension ControlRoutes {
    /// The life of changes, notifications and runs, as JSON and as a page, and the stored log.
    var stories: [Route] {
        [
            .json("GET", "/api/v1/explain/{id}") { call throws(ControlError) in
                try await agent.explain(call.arguments[0])
            },
            .json("GET", "/api/v1/logs") { call throws(ControlError) in
                LogListing(lines: try await agent.logs(try LogQuery(call)))
            },
            Route("GET", "/explain") { call throws(ControlError) in try await storyPage(call) },
        ]
    }

    private func storyPage(_ call: Call) async throws(ControlError) -> Answer {
        let id = try Parameters(call, allowing: ["id"])["id"]
        let status = try await agent.status()
        let now = status.clock.serverTime ?? status.now
        var page = StoryPage(id: id, now: now, dashboards: dashboards)
        if let id, !id.isEmpty {
            do throws(ControlError) {
                page.story = try await agent.explain(id)
            } catch  where error.kind == .notFound {
                page.problem = error.message
            }
        }
        return .page(canControl: true) { [page] in page.html(nonce: $0) }
    }
}
