import StarwatchCore

/// The fetched pages.
extension OutboxRows {
    /// The id of the next page. Ids are never reused, because rows can outlive their page.
    func nextPageID() throws -> Int64 {
        1 + (try db.value("SELECT seq FROM sqlite_sequence WHERE name = 'page_fetches'") ?? 0)
    }

    func store(_ origin: PageOrigin, _ id: Int64, runID: String) throws {
        try db.run(
            """
            INSERT INTO page_fetches (id, run_id, page, request_id, server_request_id, asked_at, answered_at, tries)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?)
            """,
            [
                id, runID, origin.page, origin.request.id, origin.request.serverID, origin.askedAt.milliseconds,
                origin.answeredAt.milliseconds, origin.tries,
            ]
        )
    }

    /// The stored pages that match a condition.
    func pages(_ condition: String, _ arguments: SQLArguments) throws -> [PageOrigin] {
        try db.all(
            """
            SELECT page, request_id, server_request_id, asked_at, answered_at, tries FROM page_fetches
            WHERE \(condition) ORDER BY id LIMIT 1000
            """,
            arguments
        ) { row in
            PageOrigin(
                page: try row["page"],
                request: RequestTrace(id: try row["request_id"], serverID: try row["server_request_id"]),
                askedAt: try row["asked_at"],
                answeredAt: try row["answered_at"],
                tries: try row["tries"]
            )
        }
    }
}
