import StarwatchCore
import Testing

@Suite struct PlanDetailsTests {
    private static let id = "01KDV8Y8000000000000000000"

    @Test func whatTheServerGivesIsReadInBothDialects() throws {
        let plan = #"""
            {"jwtId": "\#(Self.id)", "handleId": "h", "name": "Garden", "description": "Plants", "image": null,
             "startTime": "2026-01-01T00:00:00Z", "endTime": null, "locLat": 40.5, "locLon": -111.25, "url": "",
             "issuerDid": "did:ethr:0xA"}
            """#
        for key in ["plan", "planSummary"] {
            let page = #"{"data": [{"\#(key)": \#(plan)}, {"\#(key)": 7}, 8], "hitLimit": false}"#
            let id = try #require(JWTID(Self.id))
            let details = try #require(PlanDetailsDecoder.decode(Array(page.utf8))[id])
            #expect(details[.name] == "Garden")
            #expect(details[.description] == "Plants")
            #expect(details[.location] == "40.5,-111.25")
            #expect(details[.startTime] == "2026-01-01T00:00:00Z")
            #expect(details[.endTime] == nil && details[.image] == nil && details[.url] == nil)
        }
        #expect(PlanDetailsDecoder.decode(Array("nothing".utf8)).isEmpty)
    }

    @Test func onlyWhatDiffersIsAChange() {
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

    @Test func aLongTextIsKeptInPart() {
        let long = PlanDetails([.description: String(repeating: "é", count: 10_000)])
        #expect((long[.description]?.utf8.count ?? 0) <= PlanDetails.longestText + 3)
    }
}
