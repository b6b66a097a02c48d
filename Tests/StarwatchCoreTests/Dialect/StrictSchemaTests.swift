import StarwatchCore
import Testing

/// Strict validation is the contract's schema, field by field.
@Suite struct StrictSchemaTests {
    /// The example of the contract, verbatim.
    private static let example = #"""
        {
        "data": [
        {
        "planSummary": {
        "jwtId": "1704067200_abc123_def45678",
        "handleId": "project_handle",
        "name": "Project Name",
        "description": "Project description",
        "issuerDid": "did:key:issuer_did",
        "agentDid": "did:key:agent_did",
        "startTime": "2025-01-01T00:00:00Z",
        "endTime": "2025-01-31T23:59:59Z",
        "locLat": 40.7128,
        "locLon": -74.0060,
        "url": "https://project-url.com",
        "version": "1.0.0"
        },
        "previousClaim": {
        "jwtId": "1703980800_xyz789_0badf00d",
        "claimType": "project_update",
        "claimData": {
        "status": "in_progress",
        "progress": 0.75,
        "lastModified": "2025-01-01T12:00:00Z"
        },
        "metadata": {
        "createdAt": "2025-01-01T10:00:00Z",
        "updatedAt": "2025-01-01T12:00:00Z"
        }
        }
        }
        ],
        "hitLimit": false,
        "pagination": {
        "hasMore": true,
        "nextAfterId": "1704153600_mno345_0badf00d"
        }
        }
        """#

    private func issues(_ text: String) -> [String]? {
        do {
            _ = try PageDecoder(
                dialect: .canonical,
                validation: .strict,
                quarantine: false
            ).decode(Array(text.utf8))
            return nil
        } catch {
            return error.issues.map(\.description)
        }
    }

    @Test func theExampleOfTheContractIsValid() { #expect(issues(Self.example) == nil) }

    @Test(arguments: [
        (
            #""jwtId": "1704067200_abc123_def45678""#, #""jwtId": "1704067200_abc123_DEF45678""#,
            "planSummary.jwtId: invalid"
        ),
        (#""handleId": "project_handle""#, #""handleId": """#, "planSummary.handleId: invalid"),
        (#""name": "Project Name""#, #""name": """#, "planSummary.name: invalid"),
        (#""name": "Project Name""#, #""name": null"#, "planSummary.name: missing"),
        (#""description": "Project description""#, #""description": null"#, "planSummary.description: missing"),
        ("did:key:issuer_did", "did:web:issuer_did", "planSummary.issuerDid: invalid"),
        ("did:key:agent_did", "did:ethr:0xA", "planSummary.agentDid: invalid"),
        ("did:key:agent_did", "did:key:\u{301}a", "planSummary.agentDid: invalid"),
        ("2025-01-01T00:00:00Z", "2025-01-01T00:00:00+00:00", "planSummary.startTime: invalid"),
        ("2025-01-31T23:59:59Z", "2025-01-31 23:59:59Z", "planSummary.endTime: invalid"),
        ("2025-01-31T23:59:59Z", "2025-02-30T23:59:59Z", "planSummary.endTime: invalid"),
        ("40.7128", #""40.7128""#, "planSummary.locLat: wrong_type"),
        ("https://project-url.com", "project-url", "planSummary.url: invalid"),
        (#""version": "1.0.0""#, #""version": 1"#, "planSummary.version: wrong_type"),
        ("1703980800_xyz789_0badf00d", "01ARZ3NDEKTSV4RRFFQ69G5FAV", "previousClaim.jwtId: invalid"),
        (#""claimType": "project_update""#, #""claimType": null"#, "previousClaim.claimType: missing"),
        ("2025-01-01T10:00:00Z", "2025-01-01", "previousClaim.metadata.createdAt: invalid"),
        (#""updatedAt": "2025-01-01T12:00:00Z""#, #""x": 1"#, "previousClaim.metadata.updatedAt: missing"),
    ])
    func aFaultOfAnItemHasItsPath(part: String, changed: String, issue: String) throws {
        let text = Self.example.replacing(part, with: changed, maxReplacements: 1)
        try #require(text != Self.example)
        #expect(issues(text) == ["$.data[0].\(issue)"])
    }

    @Test(arguments: [
        (#"{"status": 1}"#, nil), ("{}", nil), ("[]", "wrong_type"), (#""x""#, "wrong_type"), ("null", "missing"),
    ])
    func claimDataIsAnObject(claimData: String, problem: String?) {
        let claim = #"""
            {"jwtId":"1703980800_xyz789_0badf00d","claimType":"t","claimData":\#(claimData),
             "metadata":{"createdAt":"2025-01-01T10:00:00.123456Z","updatedAt":"2025-01-01T10:00:00Z"}}
            """#
        #expect(issues(page(claim)) == problem.map { ["$.data[0].previousClaim.claimData: \($0)"] })
    }

    @Test func previousClaimCanBeAbsentButNotNull() {
        #expect(issues(page(nil)) == nil)
        #expect(issues(page("null")) == ["$.data[0].previousClaim: wrong_type"])
    }

    /// A page of one plan without the fields that can be absent.
    private func page(_ claim: String?) -> String {
        let plan = #"""
            {"jwtId":"1704067200_abc123_def45678","handleId":"h","name":"n","description":"","issuerDid":"did:key:a",
             "agentDid":"did:key:b","startTime":"2025-01-01T00:00:00Z","endTime":"2025-01-31T23:59:59Z","locLat":null,
             "url":null,"version":"","added":[1]}
            """#
        let item = #"{"planSummary":\#(plan)\#(claim.map { #","previousClaim":\#($0)"# } ?? "")}"#
        return #"{"data":[\#(item)],"hitLimit":false,"pagination":{"hasMore":false,"nextAfterId":null}}"#
    }

    @Test(arguments: [
        (#"{"hasMore":false}"#, "$.pagination.nextAfterId: missing"),
        (#"{"hasMore":false,"nextAfterId":"x"}"#, "$.pagination.nextAfterId: invalid"),
        (#"{"nextAfterId":null}"#, "$.pagination.hasMore: missing"), ("null", "$.pagination: missing"),
    ])
    func everyFieldOfThePaginationIsRequired(pagination: String, issue: String) {
        #expect(issues(#"{"data":[],"hitLimit":false,"pagination":\#(pagination)}"#) == [issue])
    }

    @Test func anItemOfAnotherShapeIsRejected() {
        for item in [#"{"jwtId":"1704067200_abc123_def45678","handleId":"h"}"#, #"{"plan":{}}"#, "{}"] {
            let text = #"{"data":[\#(item)],"hitLimit":false,"pagination":{"hasMore":false,"nextAfterId":null}}"#
            #expect(issues(text) == ["$.data[0].planSummary: missing"])
        }
    }

    @Test(arguments: [
        ("https://a.example/p q?x#y", true), ("HTTP://a", true), ("https:a.example", true), ("mailto:x", true),
        ("ipfs://q", true), ("https://u:p@a.example:8443/", true), ("https://[::1]:80/", true), (" https://a ", true),
        ("https://", false), ("https:///", false), ("//a.example", false), ("a.example", false), ("", false),
        ("https://a b/", false), ("https://a:99999/", false), ("https://a:x/", false), ("1a:b", false),
        ("https://[]/", false), ("https://a|b/", false),
    ])
    func aURLIsWhatABrowserParses(text: String, isURL: Bool) {
        let page = page(nil).replacing(#""url":null"#, with: #""url":"\#(text)""#)
        #expect(issues(page) == (isURL ? nil : ["$.data[0].planSummary.url: invalid"]))
    }

    @Test func theIssuesOfAPageAreLimited() {
        let items = Array(repeating: #"{"planSummary":{}}"#, count: 1000).joined(separator: ",")
        let text = #"{"data":[\#(items)],"hitLimit":false,"pagination":{"hasMore":false,"nextAfterId":null}}"#
        #expect((100...120).contains(issues(text)?.count ?? 0))
    }
}
