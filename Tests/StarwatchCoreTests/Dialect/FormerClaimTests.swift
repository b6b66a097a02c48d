import StarwatchCore
import Testing

/// The differences from the claim before, which the server can send along.
@Suite struct FormerClaimTests {
    private func changes(_ item: String, _ dialect: Dialect) throws -> [String: FieldChange]? {
        let text = #"{"data":[\#(item)],"hitLimit":false,"pagination":{"hasMore":false}}"#
        let page = try PageDecoder(
            dialect: dialect,
            validation: .lenient,
            quarantine: false
        ).decode(Array(text.utf8))
        #expect(page.changes.count == 1)
        return page.changes[0].claimedChanges
    }

    private func canonical(_ claim: String) throws -> [String: FieldChange]? {
        let plan = #"""
            {"jwtId":"1704067200_abc123_def45678","handleId":"h","name":"New","description":"Same","locLat":40.5,
             "locLon":-111.0,"startTime":"2026-01-01T00:00:00Z"}
            """#
        return try changes(#"{"planSummary":\#(plan),"previousClaim":\#(claim)}"#, .canonical)
    }

    @Test func theFieldsOfThePreviousClaimAreCompared() throws {
        let claim = #"""
            {"jwtId":"1703980800_xyz789_0badf00d","claimType":"project_update","claimData":
             {"name":"Old","description":"Same","url":"https://old.example","locLat":40.5,"locLon":-112.0,
              "status":"in_progress","progress":0.75,"startTime":"2026-01-01T01:00:00+01:00","endTime":"someday"}}
            """#
        #expect(
            try canonical(claim) == [
                "name": FieldChange(before: "Old", after: "New"),
                "url": FieldChange(before: "https://old.example", after: nil),
                "location": FieldChange(before: "40.5,-112.0", after: "40.5,-111.0"),
                "status": FieldChange(before: "in_progress", after: nil),
                "progress": FieldChange(before: "0.75", after: nil),
            ]
        )
    }

    /// The value after the change is the plan's member of the same name, if the server sends it.
    @Test func statusAndProgressOfThePreviousClaimAreComparedWithThePlans() throws {
        let plan = #"""
            {"jwtId":"1704067200_abc123_def45678","handleId":"h","name":"New","status":"done","progress":1}
            """#
        let claim = #"{"claimData":{"status":"in_progress","progress":1.0}}"#
        #expect(
            try changes(#"{"planSummary":\#(plan),"previousClaim":\#(claim)}"#, .canonical)
                == ["status": FieldChange(before: "in_progress", after: "done")]
        )
        let long = String(repeating: "x", count: 10_000)
        let bounded = try canonical(#"{"claimData":{"status":"\#(long)"}}"#)
        #expect((bounded?["status"]?.before?.utf8.count ?? 0) <= PlanDetails.longestText + 3)
    }

    @Test(arguments: [
        "null", "{}", "7", #"{"claimData":[]}"#, #"{"claimData":{"status":{"a":1},"progress":null}}"#,
        #"{"claimData":{"name":"New","description":7}}"#,
    ])
    func aClaimThatSaysNothingIsNoDifference(claim: String) throws { #expect(try canonical(claim) == nil) }

    @Test(arguments: [
        #""wrappedClaimBefore":{"id":"01J","claim":{"name":"Old","location":{"geo":{"latitude":1,"longitude":2}}}}"#,
        #""claimBefore":{"claim":"{\"name\":\"Old\",\"location\":{\"geo\":{\"latitude\":1,\"longitude\":2}}}"}"#,
    ])
    func theEndorserServersClaimIsComparedToo(claim: String) throws {
        let plan = #"{"jwtId":"01ARZ3NDEKTSV4RRFFQ69G5FAV","handleId":"h","name":"New","locLat":1,"locLon":2}"#
        #expect(
            try changes(#"{"plan":\#(plan),\#(claim)}"#, .endorser)
                == ["name": FieldChange(before: "Old", after: "New")]
        )
    }
}
