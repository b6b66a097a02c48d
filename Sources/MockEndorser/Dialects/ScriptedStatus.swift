/// The response of a scripted status.
enum ScriptedStatus {
    /// Creates the response. Each of `headers` replaces a header of the same name.
    ///
    /// - Parameter body: The body; `nil` for the dialect's own body of this status.
    static func reply(
        _ status: Int,
        headers: [String: String],
        body: String?,
        _ state: inout MockState
    ) -> Reply {
        var reply = body.map { .json(status, .encoded(Array($0.utf8))) } ?? usual(status, &state)
        for (name, value) in headers.sorted(by: { $0.key < $1.key }) {
            reply.headers.removeAll { $0.0.lowercased() == name.lowercased() }
            reply.headers.append((name, value))
        }
        return reply
    }

    private static func usual(_ status: Int, _ state: inout MockState) -> Reply {
        switch (state.options.dialect, status) {
        case (.canonical, 500):
            CanonicalDialect.error(
                500,
                "internal_server_error",
                "Database connection timeout",
                details: [("component", "database"), ("operation", "query_starred_projects")],
                in: &state
            )
        case (.canonical, 503):
            CanonicalDialect.error(
                503,
                "service_unavailable",
                "Service temporarily unavailable for maintenance",
                in: &state
            )
        case (.canonical, _): CanonicalDialect.error(status, "scripted", "Scripted answer", in: &state)
        case (.endorser, 500): .json(500, "Error: SQLITE_BUSY: database is locked")
        // The proxy in front of the real server sends these.
        case (.endorser, 502...504):
            .html(status, "<html><body><h1>\(status)</h1>\nThe server is not available.\n</body></html>\n")
        case (.endorser, _): .json(status, ["error": "Scripted answer"])
        }
    }
}
