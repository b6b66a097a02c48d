import StarwatchCore
import Testing

@Suite struct PageDecoderTests {
    private let one = "1704067200_abc123_def45678"
    private let two = "1704067201_abc123_def45678"

    private func canonical(_ ids: [String], more: String = "") -> String {
        let items = ids.map { #"{"planSummary":{"jwtId":"\#($0)","handleId":"h","name":"n"},"previousClaim":null}"# }
        let pagination = more.isEmpty ? #"{"hasMore":false}"# : #"{"hasMore":true,"nextAfterId":"\#(more)"}"#
        return #"{"data":[\#(items.joined(separator: ","))],"hitLimit":false,"pagination":\#(pagination)}"#
    }

    private func endorser(_ ids: [String], hitLimit: Bool = false) -> String {
        let items = ids.map { #"{"plan":{"jwtId":"\#($0)","handleId":"h","name":null},"wrappedClaimBefore":{}}"# }
        return #"{"data":[\#(items.joined(separator: ","))],"hitLimit":\#(hitLimit)}"#
    }

    private func decode(
        _ text: String,
        _ dialect: Dialect = .canonical,
        _ validation: Validation = .lenient,
        quarantine: Bool = false
    ) throws(PageRejection) -> Page {
        try PageDecoder(dialect: dialect, validation: validation, quarantine: quarantine).decode(Array(text.utf8))
    }

    private func rejection(
        _ text: String,
        _ dialect: Dialect = .canonical,
        _ validation: Validation = .lenient
    ) -> PageRejection? {
        do {
            _ = try decode(text, dialect, validation)
            return nil
        } catch {
            return error
        }
    }

    @Test func identifiersAfterTheLatestTimeAreRejected() throws {
        let latest = Timestamp(seconds: 1_704_067_200)
        func decode(_ text: String, quarantine: Bool = false) throws(PageRejection) -> Page {
            try PageDecoder(
                dialect: .canonical,
                validation: .lenient,
                quarantine: quarantine,
                latest: latest
            ).decode(Array(text.utf8))
        }
        #expect(try decode(canonical([one])).changes.map(\.id.rawValue) == [one])
        let schema = #expect(throws: PageRejection.self) { try decode(canonical([one, two])) }
        #expect(schema?.violation == .schema)
        #expect(schema?.issues.map(\.path) == ["$.data[1].planSummary.jwtId"])
        let page = try decode(canonical([one, two]), quarantine: true)
        #expect(page.changes.map(\.id.rawValue) == [one])
        #expect(page.rejected == 1)
        let cursor = #expect(throws: PageRejection.self) { try decode(canonical([one], more: two)) }
        #expect(cursor?.violation == .cursor)
    }

    @Test func paginationRevealsTheDialect() {
        #expect(PageDecoder.detect(Array(canonical([one]).utf8), of: .starredProjects) == .dialect(.canonical))
        let page = Array(endorser(["01ARZ3NDEKTSV4RRFFQ69G5FAV"]).utf8)
        #expect(PageDecoder.detect(page, of: .starredProjects) == .dialect(.endorser))
        #expect(PageDecoder.detect(Array(endorser([]).utf8), of: .starredProjects) == .dialect(.endorser))
        // A gateway can send this while the server is down.
        #expect(PageDecoder.detect(Array(#"{"data":[]}"#.utf8), of: .starredProjects) == .undecided)
        for text in ["", "null", "[]", "{}", "<html>", #"{"data":5}"#] {
            #expect(PageDecoder.detect(Array(text.utf8), of: .starredProjects) == .noPage, "\(text)")
        }
    }

    @Test func identifiersOfOffersRevealTheDialect() {
        func offers(_ ids: String...) -> [UInt8] {
            Array(#"{"data":[\#(ids.map { #"{"jwtId":\#($0)}"# }.joined(separator: ","))],"hitLimit":false}"#.utf8)
        }
        #expect(PageDecoder.detect(offers(#""\#(one)""#), of: .offersToMe) == .dialect(.canonical))
        #expect(PageDecoder.detect(offers(#""01ARZ3NDEKTSV4RRFFQ69G5FAV""#), of: .offersToMe) == .dialect(.endorser))
        #expect(PageDecoder.detect(offers("5", #""x""#), of: .offersToMyProjects) == .undecided)
        #expect(PageDecoder.detect(offers(), of: .offersToMe) == .undecided)
    }

    @Test func canonicalPagesAreDecoded() throws {
        let page = try decode(canonical([one, two], more: two))
        #expect(page.changes.map(\.id.rawValue) == [one, two])
        #expect(page.hasMore && page.nextAfter?.rawValue == two)
        #expect(page.fetched == 2 && page.rejected == 0 && !page.reordered)
        #expect(page.changes.first?.change.name == "n")
    }

    @Test func endorserPagesAreDecoded() throws {
        let page = try decode(endorser(["01ARZ3NDEKTSV4RRFFQ69G5FAV"], hitLimit: true), .endorser)
        #expect(page.hasMore && page.nextAfter == nil)
        #expect(page.changes.count == 1 && page.changes.first?.change.name == nil)
    }

    @Test func anOfferHasThePlanItFulfilsOrItsOwnHandle() throws {
        let items = [#""fulfillsPlanHandleId":"p","#, ""].enumerated().map {
            #"{"jwtId":"01ARZ3NDEKTSV4RRFFQ69G5FA\#(9 - $0.offset)",\#($0.element)"handleId":"o"}"#
        }
        let page = try decode(#"{"data":[\#(items.joined(separator: ","))]}"#, .endorser)
        #expect(page.changes.map(\.change.plan) == ["p", "o"])
        #expect(page.changes.map(\.change.isOffer) == [false, true])
    }

    /// Anybody can offer, with a handle of any length.
    @Test(arguments: [
        #""handleId":"\#(String(repeating: "x", count: 3000))""#, #""handleId":"""#,
        #""fulfillsPlanHandleId":"\#(String(repeating: "p", count: 3000))","handleId":"""#,
    ])
    func anOfferWithAHandleThatCannotBeStoredHasItsIdentifier(fields: String) throws {
        let id = "01ARZ3NDEKTSV4RRFFQ69G5FAV"
        let page = try decode(#"{"data":[{"jwtId":"\#(id)",\#(fields)}]}"#, .endorser)
        #expect(page.changes.map(\.change) == [Change(id: JWTID(id)!, plan: id, name: nil, isOffer: true)])
    }

    @Test func theCursorPassesRejectedItemsWithAValidIdentifier() throws {
        let text =
            #"{"data":[{"planSummary":{"jwtId":"\#(one)","handleId":"h"}},{"planSummary":{"jwtId":"\#(two)"}}]}"#
        let page = try decode(text, quarantine: true)
        #expect(page.rejected == 1)
        #expect(page.least?.rawValue == one && page.greatest?.rawValue == two)
        #expect(try decode(canonical([one, "bad"]), quarantine: true).greatest?.rawValue == one)
        #expect(rejection(text)?.isOfItems == true)
        #expect(rejection(#"{"data":{}}"#)?.isOfItems == false)
    }

    /// A database without encryption would cut a name at NUL, and sinks would send control characters on.
    @Test(arguments: [
        (#"Gar\u0000den"#, "Garden"), (#"a\u001b[31mb\u0007"#, "a[31mb"), (#"a\r\nb\tc\rd"#, "a b c d"),
        (#"\u0080a\u009f"#, "a"), (#"a\u2028b\u0085c"#, "a b c"), ("Café 😀", "Café 😀"),
        (#"\u202eevil"#, "\u{202e}evil"),
    ])
    func namesHaveNoControlCharacters(json: String, name: String) throws {
        let ulid = "01ARZ3NDEKTSV4RRFFQ69G5FAV"
        let fields = #""jwtId":"\#(ulid)","handleId":"h\u0000","name":"\#(json)","description":"a\n\u0000b""#
        let plan = try decode(#"{"data":[{"plan":{\#(fields)}}]}"#, .endorser)
        #expect(plan.changes.first?.change.name == name && plan.changes.first?.change.plan == "h")
        #expect(plan.changes.first?.details?[.name] == name)
        #expect(plan.changes.first?.details?[.description] == "a\nb")
        let item = #"{"jwtId":"\#(ulid)","handleId":"h","objectDescription":"\#(json)"}"#
        let decoder = PageDecoder(dialect: .endorser, kind: .offersToMe, validation: .lenient, quarantine: false)
        let offers = try decoder.decode(Array(#"{"data":[\#(item)]}"#.utf8))
        #expect(offers.changes.first?.change.name == name)
    }

    @Test func pagesWithTooManyItemsAreRejected() throws {
        func page(_ count: Int) -> String {
            #"{"data":["# + Array(repeating: "{}", count: count).joined(separator: ",") + #"],"hitLimit":false}"#
        }
        let limit = 1000
        #expect(try decode(page(limit), .endorser, quarantine: true).rejected == limit)
        #expect(rejection(page(limit + 1), .endorser)?.issues == [ValidationIssue(path: "$.data", problem: .invalid)])
        // Nor does the detection of the dialect decode them.
        #expect(PageDecoder.detect(Array(page(limit).utf8), of: .starredProjects) == .dialect(.endorser))
        #expect(PageDecoder.detect(Array(page(limit + 1).utf8), of: .starredProjects) == .noPage)
    }

    @Test func unusedTextsMustBeUTF8Too() {
        let page = Array(#"{"data":[],"hitLimit":false,"x":""#.utf8) + [0xff] + Array("\"}".utf8)
        #expect(throws: PageRejection.self) {
            try PageDecoder(dialect: .endorser, validation: .lenient, quarantine: true).decode(page)
        }
    }

    @Test func emptyPagesAreValid() throws {
        #expect(try decode(canonical([])).changes.isEmpty)
        #expect(try decode(#"{"data":[]}"#, .endorser).hasMore == false)
    }

    @Test func unsortedPagesAreSorted() throws {
        let page = try decode(canonical([two, one]))
        #expect(page.reordered)
        #expect(page.changes.map(\.id.rawValue) == [one, two])
    }

    @Test func contradictionsAreViolations() {
        #expect(rejection(canonical([], more: one))?.violation == .hitLimit)
        #expect(rejection(endorser([], hitLimit: true), .endorser)?.violation == .hitLimit)
        #expect(rejection(#"{"data":[],"pagination":{"hasMore":true}}"#)?.violation == .hitLimit)
        #expect(rejection(canonical([two], more: one))?.violation == .cursor)
        #expect(rejection(canonical(["01ARZ3NDEKTSV4RRFFQ69G5FAV"]))?.violation == .idKind)
        #expect(rejection(endorser([one]), .endorser)?.violation == .idKind)
    }

    @Test(arguments: [
        ("", "$"), ("[]", "$"), ("{}", "$.data"), (#"{"data":null}"#, "$.data"), (#"{"data":{}}"#, "$.data"),
        (#"{"data":[5]}"#, "$.data[0]"),
        (#"{"data":[{"planSummary":{"handleId":"h"}}]}"#, "$.data[0].planSummary.jwtId"),
        (#"{"data":[{"planSummary":{"jwtId":5,"handleId":"h"}}]}"#, "$.data[0].planSummary.jwtId"),
        (#"{"data":[],"pagination":{"hasMore":"yes"}}"#, "$.pagination.hasMore"),
    ])
    func issuesHaveTheirPath(text: String, path: String) throws {
        let rejection = try #require(self.rejection(text))
        #expect(rejection.violation == .schema)
        #expect(rejection.issues.contains { $0.path == path }, "\(rejection.issues)")
    }

    @Test func onlyQuarantineRejectsItemsOneByOne() throws {
        let text = canonical([one, "bad", two])
        #expect(rejection(text)?.violation == .schema)
        let page = try decode(text, quarantine: true)
        #expect(page.changes.count == 2 && page.rejected == 1 && page.fetched == 3)
        #expect(page.issues.count == 1)
    }

    @Test func issuesContainNoValues() {
        #expect(rejection(canonical(["did:ethr:secret"]))?.issues.allSatisfy { !"\($0)".contains("secret") } == true)
    }

    @Test func strictValidationChecksOptionalFields() {
        #expect(rejection(canonical([one]), .canonical, .strict)?.violation == .schema)
        #expect(rejection(#"{"data":[]}"#, .canonical, .strict)?.issues.count == 2)
    }

    /// Truncated or mutated bytes give a page or a rejection, never a trap.
    @Test(.timeLimit(.minutes(5))) func arbitraryBytesNeverTrap() {
        var random = SplitMix64(seed: 13)
        let good = Array(canonical([one, two], more: two).utf8)
        for _ in 0..<2000 {
            var bytes = Array(good.prefix(Int.random(in: 0...good.count, using: &random)))
            for _ in 0..<Int.random(in: 0...3, using: &random) where !bytes.isEmpty {
                bytes[Int.random(in: bytes.indices, using: &random)] = UInt8.random(in: 0...255, using: &random)
            }
            _ = try? PageDecoder(dialect: .canonical, validation: .lenient, quarantine: true).decode(bytes)
            _ = PageDecoder.detect(bytes, of: .offersToMe)
        }
    }

    @Test(arguments: Dialect.allCases)
    func requestsRespectTheLimitsOfTheDialect(dialect: Dialect) {
        var random = SplitMix64(seed: 14)
        let plans = (0..<3000).map { index in
            "https://endorser.ch/entity/\(index)-\"\\"
                + String(repeating: "x", count: Int.random(in: 0..<60, using: &random))
        }
        let chunks = PlanChunk.split(plans, dialect: dialect)
        #expect(chunks.reduce(0) { $0 + $1.count } == plans.count)
        #expect(PlanChunk.split([], dialect: dialect).isEmpty)
        // Longer ids reach the body limit before the count.
        let long = (0..<1000).map { "\($0)" + String(repeating: "x", count: 2000) }
        let split = PlanChunk.split(long, dialect: dialect)
        #expect(split.map(\.count).reduce(0, +) == 1000)
        #expect(split.count > 1)
        for chunk in split {
            let body = PageQuery(after: nil).body(for: chunk, startCursor: dialect.startCursor)
            #expect(body.count <= (dialect == .endorser ? 38_000 : 1_048_576))
        }
        let id = JWTID.floor(dialect.idKind, at: Timestamp(seconds: 1_767_225_600))
        for chunk in chunks {
            let body = PageQuery(after: id, before: id, limit: 100).body(for: chunk, startCursor: dialect.startCursor)
            #expect(body.count <= dialect.maxBodyBytes)
            #expect(chunk.count <= dialect.maxPlanIDs)
        }
        // No more requests than necessary.
        #expect(chunks.count <= (dialect == .canonical ? 3 : 8))
    }
}
