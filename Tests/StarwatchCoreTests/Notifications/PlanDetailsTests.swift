import StarwatchCore
import Testing

@Suite struct PlanDetailsTests {
    @Test(arguments: Dialect.allCases)
    func detailsAreDecodedInBothDialects(dialect: Dialect) throws {
        let id = dialect == .canonical ? "1794687476_UJcNFe_8ca6c574" : "01KDV8Y8000000000000000000"
        let jwt = try #require(JWTID(id))
        let plan = #"""
            {"jwtId": "\#(id)", "handleId": "h", "name": "Garden", "description": "Plants", "image": null,
             "startTime": "2026-01-01T00:00:00Z", "endTime": 7, "locLat": 40.5, "locLon": -111.25, "url": "",
             "issuerDid": "did:ethr:0xA"}
            """#
        let text = #"""
            {"data": [{"\#(dialect == .canonical ? "planSummary" : "plan")": \#(plan)}, {"plan": 7}, 8],
             "hitLimit": false, "pagination": {"hasMore": false}}
            """#
        let page = try PageDecoder.decode(Array(text.utf8), dialect: dialect, validation: .lenient, quarantine: true)
        #expect(page.details.count == 1)
        let details = try #require(page.details[jwt])
        #expect(details[.name] == "Garden")
        #expect(details[.description] == "Plants")
        #expect(details[.location] == "40.5,-111.25")
        #expect(details[.startTime] == "2026-01-01T00:00:00Z")
        #expect(details[.endTime] == nil && details[.image] == nil && details[.url] == nil)
    }

    @Test func onlyDifferencesAreChanges() {
        let before = PlanDetails([.name: "A", .description: "same", .url: "u"])
        let after = PlanDetails([.name: "B", .description: "same", .image: "i"])
        #expect(
            after.changes(from: before) == [
                "name": FieldChange(before: "A", after: "B"), "url": FieldChange(before: "u", after: nil),
                "image": FieldChange(before: nil, after: "i"),
            ]
        )
        #expect(after.changes(from: after).isEmpty)
    }

    @Test func longTextsAreTruncated() {
        let long = PlanDetails([.description: String(repeating: "é", count: 10_000)])
        #expect((long[.description]?.utf8.count ?? 0) <= PlanDetails.longestText + 3)
    }
}
