import Foundation

extension CanonicalDialect {
    static let emptyCursor = "0000000000_000000_00000000"

    /// `POST /api/v2/report/plansLastUpdatedBetween`.
    static func changes(_ call: APICall, _ state: inout MockState) -> Reply {
        guard let query = state.query(of: call.request.body) else {
            return error(400, "invalid_request", "Body is not a JSON object", in: &state)
        }
        if let problem = problem(of: query) {
            return error(
                400,
                "invalid_request",
                "Invalid \(problem.field) format: expected \(problem.expectation)",
                details: [
                    ("field", .string(problem.field)), ("expected", .string(problem.expected)),
                    ("received", .string(problem.received)),
                ],
                in: &state
            )
        }
        let found = state.log.ascending(
            plans: query.planIDs,
            after: query.afterID ?? emptyCursor,
            inclusive: state.options.isAfterIDInclusive,
            before: query.beforeID,
            limit: query.limit ?? pageLimit
        )
        let hasMore = found.next != nil
        var next: String?
        if hasMore, let last = found.rows.last {
            next = state.options.isAfterIDInclusive ? found.next?.id : IdentifierMaker.successor(of: last.id)
            // An identifier between the last row and the next one; if there is none, the last row's own.
            if let cursor = next, let following = found.next?.id, !state.options.isAfterIDInclusive, cursor >= following
            {
                next = last.id
            }
        }
        var page: JSONValue = [
            "data": .array(found.rows.map { call.violation == nil ? .encoded($0.encoded) : CanonicalRow.item($0) }),
            "hitLimit": .bool(hasMore),
            "pagination": ["hasMore": .bool(hasMore), "nextAfterId": JSONValue(next)],
        ]
        if let violation = call.violation {
            PageViolation.apply(violation, to: &page, .init(dialect: .canonical, cursor: query.afterID))
        }
        return .json(200, page)
    }

    /// The first problem of a query, in the words of the contract; `nil` if there is none.
    private static func problem(
        of query: ChangesQuery
    ) -> (field: String, expected: String, received: String, expectation: String)? {
        if let problem = query.problem {
            let expectation = problem.expected == "string[]" ? "array of strings" : problem.expected
            return (problem.field, problem.expected, problem.received, expectation)
        }
        if query.planIDCount > planIDLimit {
            return ("planIds", "at most \(planIDLimit)", "\(query.planIDCount)", "at most \(planIDLimit) ids")
        }
        if let limit = query.limit, !(1...pageLimit).contains(limit) {
            return ("limit", "1...\(pageLimit)", "\(limit)", "a number from 1 to \(pageLimit)")
        }
        for (field, id) in [("afterId", query.afterID), ("beforeId", query.beforeID)] {
            // A client that does not yet know the dialect sends "0".
            if let id, id != "0", !isIdentifier(id) { return (field, "jwtId", "string", "a jwtId") }
        }
        return nil
    }

    /// Whether `text` matches `^[0-9]{10}_[A-Za-z0-9]{6}_[a-f0-9]{8}$`.
    static func isIdentifier(_ text: String) -> Bool {
        let bytes = Array(text.utf8)
        guard bytes.count == 26, bytes[10] == UInt8(ascii: "_"), bytes[17] == UInt8(ascii: "_") else { return false }
        func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }
        func isLetter(_ byte: UInt8) -> Bool { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20) }
        func isHex(_ byte: UInt8) -> Bool {
            isDigit(byte) || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte)
        }
        return bytes[..<10].allSatisfy(isDigit) && bytes[11..<17].allSatisfy { isDigit($0) || isLetter($0) }
            && bytes[18...].allSatisfy(isHex)
    }
}

extension MockState {
    /// Parses the query of a body; `nil` if it is not a JSON object. Results are cached, because polls repeat bodies.
    mutating func query(of body: [UInt8]) -> ChangesQuery? {
        if let known = queries[body] { return known }
        guard let query = ChangesQuery(body: body) else { return nil }
        if queries.count >= 128 { queries.removeAll() }
        queries[body] = query
        return query
    }
}
