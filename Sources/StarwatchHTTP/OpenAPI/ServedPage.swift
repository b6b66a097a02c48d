/// An address that is no verb, for the description of the API and for the help page.
struct ServedPage: Sendable {
    let path: String
    let id: String
    let meaning: String
    /// The parameters of the query, and headers.
    let parameters: [String]

    private init(_ path: String, _ id: String, _ meaning: String, taking parameters: String...) {
        (self.path, self.id, self.meaning, self.parameters) = (path, id, meaning, parameters)
    }

    /// The types of the answer's content; `nil` if it is ``body``.
    var types: [String]? {
        switch id {
        case "healthy", "ready": nil
        case "metrics": ["text/plain", "application/openmetrics-text"]
        case "followNotifications": ["text/event-stream"]
        case "openAPI": ["application/json"]
        case "atomFeed", "privateAtomFeed": ["application/atom+xml"]
        case "jsonFeed", "privateJSONFeed": ["application/feed+json"]
        default: ["text/html"]
        }
    }

    var body: any Decodable.Type { id == "ready" ? ReadyAnswer.self : HealthyAnswer.self }

    /// Whether an answer with 503 has the same content.
    var canBeUnavailable: Bool { types == nil || id == "metrics" }

    var isFeed: Bool { parameters == ["before"] }

    /// The statuses of errors that not every route has.
    var errors: [Int] {
        (path.contains("{") ? [404] : []) + (parameters.isEmpty || id == "metrics" ? [] : [400])
            + (isFeed ? [409] : []) + (id == "followNotifications" ? [409, 503] : [])
    }

    /// The pages of every port.
    static let reading = [
        ServedPage("/", "statusPage", "The status page."),
        ServedPage("/help", "helpPage", "The meaning of the status page's words."),
        ServedPage("/help/runbooks", "runbookIndex", "The runbooks of the alerts."),
        ServedPage("/help/runbooks/{name}", "runbook", "An alert's runbook."),
        ServedPage(
            "/metrics",
            "metrics",
            "Metrics as Prometheus text 0.0.4 or OpenMetrics 1.0, chosen by `Accept`.",
            taking: "name[]"
        ),
        ServedPage("/-/healthy", "healthy", "200 while local work progresses, else 503."),
        ServedPage(
            "/-/ready",
            "ready",
            """
            200 if the agent is ready, else 503. The reasons are `starting`, `draining`, `signed_out`, `store_unavailable`, \
            `store_damaged`, `store_lost`, `store_full` and `store_busy`.
            """
        ),
        ServedPage("/explain", "explainPage", "The life of a change, a notification or a run.", taking: "id"),
    ]

    private static let feed = "The latest notifications for feed readers, page by page."
    private static let privateFeed = feed + " `starwatch feed url` prints this address, if there is one."

    /// The pages of the control API alone.
    static let control = [
        ServedPage("/feed", "feedPage", "The latest notifications, if a sink of kind `feed` keeps them."),
        ServedPage("/feed.atom", "atomFeed", feed, taking: "before"),
        ServedPage("/feed.json", "jsonFeed", feed, taking: "before"),
        ServedPage("/feed/{token}/feed.atom", "privateAtomFeed", privateFeed, taking: "before"),
        ServedPage("/feed/{token}/feed.json", "privateJSONFeed", privateFeed, taking: "before"),
        ServedPage(
            "/api/v1/notifications/events",
            "followNotifications",
            """
            Notifications as they come. Server-sent events: `notification`, with its sequence as the id, and `gap`, with `after` \
            and `before`, where some are no longer kept. A comment comes every 15 s. A client that does not read for 30 s is cut \
            off, and can resume with `Last-Event-ID`. The agent ends the stream when it stops or reloads.
            """,
            taking: "after",
            "Last-Event-ID"
        ),
        ServedPage("/api/v1/openapi.json", "openAPI", "This API as OpenAPI 3.1."),
    ]
}
