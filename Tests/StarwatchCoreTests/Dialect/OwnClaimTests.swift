import StarwatchCore
import Testing

/// What a page tells of an account's own claims, and of claims that later ones replaced.
@Suite struct OwnClaimTests {
    private static let me = DID("did:ethr:0x00000000000000000000000000000000000000Aa")!
    private static let ulid = "01ARZ3NDEKTSV4RRFFQ69G5FAV"

    private func page(
        _ item: String,
        _ dialect: Dialect = .endorser,
        _ kind: PollKind = .starredProjects,
        _ context: PageContext
    ) throws -> Page {
        let text = #"{"data":[\#(item)],"hitLimit":false,"pagination":{"hasMore":false}}"#
        let page = try PageDecoder(
            dialect: dialect,
            kind: kind,
            validation: .lenient,
            quarantine: false,
            context: context
        ).decode(Array(text.utf8))
        #expect(page.changes.count == 1)
        return page
    }

    private func isOwn(
        _ item: String,
        _ dialect: Dialect = .endorser,
        _ kind: PollKind = .starredProjects
    ) throws
        -> Bool
    { try !page(item, dialect, kind, PageContext(author: Self.me)).changes.allSatisfy { !$0.isOwn } }

    private func plan(_ fields: String) -> String {
        #"{"plan":{"jwtId":"\#(Self.ulid)","handleId":"h","name":"Garden"\#(fields)}}"#
    }

    private func offer(_ fields: String) -> String {
        #"{"jwtId":"\#(Self.ulid)","handleId":"h","objectDescription":"Help"\#(fields)}"#
    }

    @Test func theIssuerOfThePlansLastClaimDecides() throws {
        let me = Self.me.rawValue
        #expect(try isOwn(plan(#","issuerDid":"\#(me)","agentDid":"did:ethr:0xb0""#)))
        #expect(try !isOwn(plan(#","issuerDid":"did:ethr:0xb0","agentDid":"\#(me)""#)))
        let canonical = #"{"planSummary":{"jwtId":"1704067200_abc123_def45678","handleId":"h","issuerDid":"\#(me)"}}"#
        #expect(try isOwn(canonical, .canonical))
    }

    @Test(arguments: [
        "", #","issuerDid":null"#, #","issuerDid":"did:none:HIDDEN""#, #","issuerDid":7"#, #","issuerDid":"""#,
        #","issuerDid":"did:ethr:0x00000000000000000000000000000000000000aa""#,
    ])
    func aMissingHiddenOrOtherwiseSpeltIssuerIsNobody(fields: String) throws {
        #expect(try !isOwn(plan(fields)))
        #expect(try !isOwn(offer(fields), .endorser, .offersToMe))
    }

    @Test(arguments: [PollKind.offersToMe, .offersToMyProjects])
    func whoOffersIsTheIssuerOfAnOfferUnlessItNamesAnother(kind: PollKind) throws {
        let me = Self.me.rawValue
        #expect(try isOwn(offer(#","offeredByDid":"\#(me)""#), .endorser, kind))
        #expect(try isOwn(offer(#","issuerDid":"\#(me)","offeredByDid":"did:ethr:0xb0""#), .endorser, kind))
        #expect(try !isOwn(offer(#","issuerDid":"did:ethr:0xb0","offeredByDid":"\#(me)""#), .endorser, kind))
        #expect(try !isOwn(offer(#","offeredByDid":"did:none:HIDDEN""#), .endorser, kind))
    }

    @Test func nobodyIsComparedUnlessAsked() throws {
        let item = plan(#","issuerDid":"\#(Self.me.rawValue)""#)
        #expect(try page(item, .endorser, .starredProjects, PageContext()).changes.allSatisfy { !$0.isOwn })
    }

    @Test(arguments: [
        ("1704067100_abc123_def45678", true), ("1704067000_abc123_def45678", false),
        ("1704066000_abc123_def45678", false), ("later", false),
    ])
    func thePreviousClaimIsListedIfItCameAfterTheCursor(previous: String, isListed: Bool) throws {
        let cursor = try #require(JWTID("1704067000_abc123_def45678"))
        let item = #"""
            {"planSummary":{"jwtId":"1704067200_abc123_def45678","handleId":"h"},"previousClaim":{"jwtId":"\#(previous)"}}
            """#
        let found = try page(item, .canonical, .starredProjects, PageContext(cursor: cursor))
        #expect(found.changes.map(\.previous?.rawValue) == [isListed ? previous : nil])
        #expect(try page(item, .canonical, .starredProjects, PageContext()).changes.allSatisfy { $0.previous == nil })
    }
}
