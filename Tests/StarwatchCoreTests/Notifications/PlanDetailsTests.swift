import Foundation
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
        let page = try PageDecoder(dialect: dialect, validation: .lenient, quarantine: true).decode(Array(text.utf8))
        #expect(page.changes.map(\.id) == [jwt])
        let details = try #require(page.changes[0].details)
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

    /// Texts with every character that JSON escapes, and others that it does not.
    private static let texts = [
        "Garden", "\"quoted\" \\ and / slashed", "lines\r\n\tand \u{1} \u{1f} \u{7f} \u{0}", "Gärten 🌷 \u{2028}",
        String(repeating: "é", count: 10_000),
    ]

    @Test(arguments: texts)
    func storedDetailsAreReadAsTheyWere(text: String) throws {
        let details = PlanDetails([.name: text, .location: "1,2", .endTime: text])
        #expect(PlanDetails(stored: details.stored) == details)
        #expect(PlanDetails(stored: PlanDetails().stored) == PlanDetails())
        // The decoder of earlier versions reads them too.
        let decoded = try JSONDecoder().decode([String: String].self, from: Data(details.stored.utf8))
        #expect(decoded == ["name": details[.name], "location": "1,2", "end_time": details[.endTime]])
        // This one reads what the encoder of earlier versions wrote.
        let former = try JSONEncoder().encode(decoded)
        #expect(PlanDetails(stored: String(decoding: former, as: UTF8.self)) == details)
    }

    @Test(arguments: ["", "[]", "7", #"{"name": 7}"#, #"{"name": "A""#, #"{"name": ["A"]}"#])
    func otherTextsAreNoStoredDetails(text: String) {
        #expect(PlanDetails(stored: text) == nil)
    }

    @Test func membersWithoutATextAndUnknownOnesAreLeftOut() {
        #expect(PlanDetails(stored: #"{"name": null, "url": "u", "colour": {"red": 1}}"#) == PlanDetails([.url: "u"]))
    }

    @Test(arguments: texts)
    func storedChangesAreDecodedAsTheyWere(text: String) throws {
        let changes = [
            "url": FieldChange(before: text, after: nil), "name": FieldChange(before: nil, after: text),
            "image": FieldChange(before: text, after: text), "location": FieldChange(before: nil, after: nil),
        ]
        let stored = FieldChange.stored(changes)
        #expect(try JSONDecoder().decode([String: FieldChange].self, from: Data(stored.utf8)) == changes)
        #expect(FieldChange.changes(stored: stored) == changes)
        #expect(FieldChange.stored([:]) == "{}")
        #expect(FieldChange.changes(stored: "{}") == [:])
    }

    @Test func everyFieldOfAChangeIsReadAndUnknownOnesAreLeftOut() {
        let names = PlanDetails.Field.allCases.map(\.rawValue) + ClaimField.allCases.map(\.rawValue)
        let changes = Dictionary(uniqueKeysWithValues: names.map { ($0, FieldChange(before: "a", after: $0)) })
        #expect(FieldChange.changes(stored: FieldChange.stored(changes)) == changes)
        let newer = #"{"colour": {"before": "red"}, "name": {"before": null, "after": "A", "by": 7}}"#
        #expect(FieldChange.changes(stored: newer) == ["name": FieldChange(before: nil, after: "A")])
    }

    @Test(arguments: ["", "[]", "7", #"{"name": 7}"#, #"{"name": {"before": 7}}"#, #"{"name": {}"#, #"{"name": null}"#])
    func otherTextsAreNoStoredChanges(text: String) {
        #expect(FieldChange.changes(stored: text) == nil)
    }
}
