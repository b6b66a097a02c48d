import StarwatchCore
import Testing

/// The golden fixtures, as the requirements describe them.
@Suite struct GoldenFixtureTests {
    private func page(
        _ fixture: GoldenFixture,
        _ validation: Validation = .lenient,
        quarantine: Bool = false
    ) throws -> Page {
        try PageDecoder(
            dialect: .canonical,
            validation: validation,
            quarantine: quarantine
        ).decode(try fixture.bytes())
    }

    private func rejection(_ fixture: GoldenFixture, _ validation: Validation = .lenient) throws -> PageRejection {
        try #require(#expect(throws: PageRejection.self) { try page(fixture, validation) })
    }

    @Test(arguments: [Validation.lenient, .strict])
    func theEmptyResponseIsValidAndTheEnd(validation: Validation) throws {
        let page = try page(.empty, validation)
        #expect(page.fetched == 0 && !page.hasMore && page.nextAfter == nil && page.hasPagination)
    }

    @Test func theSmallResponseHasThreeChanges() throws {
        let page = try page(.small)
        #expect(
            page.changes.map(\.id.rawValue) == [
                "1704067200_abc123_def45678", "1704153600_mno345_0badf00d", "1704240000_new123_0badf00d",
            ]
        )
        #expect(page.changes.map(\.change.plan) == ["test_project_1", "test_project_2", "test_project_3"])
        #expect(page.changes.map(\.change.name) == ["Test Project 1", "Test Project 2", "Test Project 3"])
        #expect(page.changes.map { $0.details?[.location] } == ["40.7128,-74.006", nil, "37.7749,-122.4194"])
        #expect(!page.hasMore && !page.reordered)
    }

    /// `startTime`, `endTime`, `version`, `claimData` and `metadata` of each of the three (C-088).
    @Test func theSmallResponseBreaksTheSchemaFifteenTimes() throws {
        let rejection = try rejection(.small, .strict)
        #expect(rejection.violation == .schema)
        let missing =
            ["planSummary.version", "planSummary.startTime", "planSummary.endTime"]
            + ["previousClaim.claimData", "previousClaim.metadata"]
        let expected = (0..<3).flatMap { index in missing.map { "$.data[\(index)].\($0): missing" } }
        #expect(rejection.issues.map(\.description).sorted() == expected.sorted())
        #expect(try page(.smallFull, .strict).changes.count == 3)
    }

    @Test func thePaginatedResponseGoesOnWithTheServersCursor() throws {
        let page = try page(.paginated)
        #expect(page.fetched == 100 && page.hasMore && page.nextAfter?.rawValue == "1704240000_new123_1cafebad")
        #expect(page.changes.first?.id.rawValue == GoldenFixture.firstID)
        #expect(page.changes.last?.id.rawValue == GoldenFixture.lastID)
        var walk = PageWalk(dialect: .canonical, mode: .poll, cursor: nil, resume: nil, chunks: 1)
        _ = walk.next(limit: nil)
        let plan = try walk.receive(page, askedAt: nil)
        #expect(plan.changes.count == 100)
        #expect(walk.next(limit: nil)?.query.after == page.nextAfter)
    }

    @Test func theMalformedResponseHasThreeIssues() throws {
        let rejection = try rejection(.malformed)
        #expect(rejection.violation == .schema)
        #expect(
            rejection.issues.map(\.description) == [
                "$.data[0].planSummary.jwtId: invalid", "$.data[0].planSummary.handleId: missing",
                "$.data[0].planSummary.name: invalid",
            ]
        )
        let page = try page(.malformed, quarantine: true)
        #expect(page.changes.isEmpty && page.rejected == 1 && page.fetched == 1)
        #expect(page.refused.map(\.id) == [nil])
    }

    @Test func theMixedOrderIsSortedAndStrictlyRejected() throws {
        let page = try page(.mixedOrder)
        #expect(page.reordered)
        let ids = ["1704067200_abc123_def45678", "1704153600_mno345_0badf00d"]
        #expect(page.changes.map(\.id.rawValue) == ids)
        #expect(try rejection(.mixedOrder, .strict).violation == .schema)
        #expect(try self.page(.mixedOrderFull).changes.map(\.id.rawValue) == ids)
        #expect(try rejection(.mixedOrderFull, .strict) == PageRejection(violation: .order, issues: []))
    }
}
