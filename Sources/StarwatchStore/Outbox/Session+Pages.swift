import GRDB
import StarwatchCore

extension Session {
    /// The id of the next page. Ids are never reused, because rows can outlive their page.
    func nextFetchID() throws -> Int64 {
        let last: Int64? = try row("SELECT seq FROM sqlite_sequence WHERE name = 'page_fetches'")?[0]
        return (last ?? 0) + 1
    }

    func store(_ origin: PageOrigin, _ id: Int64, runID: String) throws {
        try run(
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
    func pages(_ condition: String, _ argument: any DatabaseValueConvertible) throws -> [(id: Int64, page: PageOrigin)]
    {
        var found: [(Int64, PageOrigin)] = []
        let rows = try rows(
            """
            SELECT id, page, request_id, server_request_id, asked_at, answered_at, tries FROM page_fetches
            WHERE \(condition) ORDER BY id LIMIT 1000
            """,
            [argument]
        )
        while let row = try rows.next() {
            let origin = PageOrigin(
                page: row[1],
                request: RequestTrace(id: row[2], serverID: row[3]),
                askedAt: row.time(4),
                answeredAt: row.time(5),
                tries: row[6]
            )
            found.append((row[0], origin))
        }
        return found
    }
}
