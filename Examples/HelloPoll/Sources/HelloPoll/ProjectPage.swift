import StarwatchPolling

/// Body of the request: which plans, and after which change.
struct ProjectQuestion: Encodable, Sendable {
    var planIds: [String]
    var afterId: String
    var limit = 100
}

/// A page of changes, in the server's JSON.
struct ProjectPage: Codable, Sendable {
    struct Item: Codable, Sendable {
        struct Summary: Codable, Sendable {
            var jwtId: String
            var name: String?
        }

        var planSummary: Summary
    }

    /// The server's word on the next page.
    struct Pagination: Codable, Sendable {
        var hasMore: Bool
        var nextAfterId: String?
    }

    var data: [Item]
    var pagination: Pagination

    /// The cursor of the next page; `nil` on the last one. It is the server's: the identifier of the last item is none.
    var next: String? { pagination.hasMore ? pagination.nextAfterId : nil }

    /// The problems that the types do not show. A page with a problem is rejected as a whole.
    var problems: [ValidationIssue] {
        let items = data.indices.filter { JWTID(data[$0].planSummary.jwtId) == nil }.map { index in
            ValidationIssue(path: "$.data[\(index)].planSummary.jwtId", problem: .invalid)
        }
        guard pagination.hasMore, pagination.nextAfterId.flatMap({ JWTID($0) }) == nil else { return items }
        return items + [ValidationIssue(path: "$.pagination.nextAfterId", problem: .invalid)]
    }
}

/// Body of an acknowledgement.
struct Acknowledgement: Encodable, Sendable {
    var acknowledgedJwtIds: [String]
    var acknowledgedAt: String
    var clientVersion = "HelloPoll/1.0"
}

/// Answer to an acknowledgement.
struct Acknowledged: Decodable, Sendable {
    var failed: Int
}
