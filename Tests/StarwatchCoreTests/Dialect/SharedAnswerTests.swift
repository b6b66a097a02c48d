import StarwatchCore
import Testing

/// The pages that accounts take from an answer for the plans of all.
@Suite struct SharedAnswerTests {
    /// A server with some changes of some plans.
    private struct Server {
        let dialect: Dialect
        var rows: [(id: JWTID, plan: String)] = []

        /// The server's page, as its dialect writes it.
        func page(_ plans: [String], after: JWTID, before: JWTID? = nil, limit: Int) -> [UInt8] {
            let wanted = Set(plans)
            var found = rows.filter { row in
                wanted.contains(row.plan) && after.precedes(row.id) == true
                    && before.map { row.id.precedes($0) == true } ?? true
            }
            found.sort { $0.id.rawValue < $1.id.rawValue }
            if dialect.isDescending { found.reverse() }
            let items = found.prefix(limit).map { row in
                let plan = #"{"jwtId":"\#(row.id.rawValue)","handleId":"\#(row.plan)","name":"A \"b\" é"}"#
                return dialect.isDescending
                    ? #"{"plan":\#(plan),"wrappedClaimBefore":{"claim":{"name":"old"}}}"#
                    : #"{ "planSummary" : \#(plan) }"#
            }
            let hasMore = found.count > items.count
            let frame =
                dialect.isDescending
                ? #""hitLimit":\#(items.count == limit)"#
                : #""hitLimit":\#(hasMore),"pagination":{"hasMore":\#(hasMore),"nextAfterId":null}"#
            return Array(#"{"data":[\#(items.joined(separator: ","))],\#(frame)}"#.utf8)
        }
    }

    private static let plans = (0..<12).map { "https://endorser.ch/entity/\($0)" }

    private static func id(_ dialect: Dialect, _ second: Int) -> JWTID {
        .floor(dialect.idKind, at: Timestamp(seconds: 1_767_225_600 + Int64(second)))
    }

    private static func decoded(_ body: [UInt8], _ dialect: Dialect) throws -> Page {
        try PageDecoder(dialect: dialect, validation: .lenient, quarantine: false).decode(body)
    }

    @Test(arguments: Dialect.allCases, 0..<40 as Range<UInt64>)
    func aPartIsThePageThatTheAccountWouldHaveGotAlone(_ dialect: Dialect, seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        var server = Server(dialect: dialect)
        for second in 0..<40 where Bool.random(using: &random) {
            server.rows.append((Self.id(dialect, second), Self.plans.randomElement(using: &random)!))
        }
        let start = Self.id(dialect, .random(in: 0..<10, using: &random))
        var answer = SharedAnswer(dialect: dialect, after: start, topics: Self.plans)
        let isUsable = answer.add(server.page(Self.plans, after: start, limit: dialect.pageSize))
        #expect(isUsable)
        for _ in 0..<10 {
            let own = Array(Self.plans.shuffled(using: &random).prefix(.random(in: 1...5, using: &random)))
            let cursor = Self.id(dialect, .random(in: 10..<41, using: &random))
            let part = answer.part(of: own, after: cursor)
            let alone = try Self.decoded(server.page(own, after: cursor, limit: dialect.pageSize), dialect)
            #expect(try Self.decoded(part.body, dialect) == alone)
            #expect(part.count == alone.changes.count)
        }
    }

    @Test func anAnswerOfSeveralPagesIsOne() throws {
        var server = Server(dialect: .endorser)
        for second in 0..<120 { server.rows.append((Self.id(.endorser, second), Self.plans[second % 12])) }
        let start = Self.id(.endorser, -1)
        var answer = SharedAnswer(dialect: .endorser, after: start, topics: Self.plans)
        var before: JWTID?
        for page in 0..<3 {
            let isUsable = answer.add(server.page(Self.plans, after: start, before: before, limit: 50))
            #expect(isUsable)
            before = Self.id(.endorser, 120 - (page + 1) * 50)
        }
        let own = [Self.plans[3]]
        let part = answer.part(of: own, after: start)
        #expect(
            try Self.decoded(part.body, .endorser) == Self.decoded(server.page(own, after: start, limit: 50), .endorser)
        )
        #expect(part.page == 0)
        #expect(answer.part(of: [Self.plans[0]], after: start).count == 10)
    }

    @Test(arguments: [
        #"{"plan":{"handleId":"PLAN"}}"#, #"{"plan":{"jwtId":"ID"}}"#, #"{"plan":{"jwtId":"ID","handleId":7}}"#,
        #"{"plan":{"jwtId":"1767225600_abcdef_00000000","handleId":"PLAN"}}"#, "7", "null",
        #"{"plan":{"jwtId":"ID","handleId":"did:none:HIDDEN"}}"#,
    ])
    func anItemThatIsNobodysMakesTheAnswerUseless(_ item: String) {
        let text = item.replacing("PLAN", with: Self.plans[0]).replacing(
            "ID\"",
            with: Self.id(.endorser, 5).rawValue + "\""
        )
        var answer = SharedAnswer(dialect: .endorser, after: Self.id(.endorser, 0), topics: Self.plans)
        let isUsable = answer.add(Array(#"{"data":[\#(text)],"hitLimit":false}"#.utf8))
        #expect(!isUsable)
    }

    @Test(arguments: [(PollKind.givesForMyOffers, "jwtId"), (.confirmationsOfMyClaims, "id")])
    func ofEverybodysClaimsEachAccountTakesTheSame(_ kind: PollKind, key: String) {
        let items = [5, 3].map { #"{"\#(key)":"\#(Self.id(.endorser, $0).rawValue)","handleId":"a"}"# }
        let topics = kind.topics(of: ["plan"])
        var answer = SharedAnswer(kind: kind, dialect: .endorser, after: Self.id(.endorser, 0), topics: topics)
        let isUsable = answer.add(Array(#"{"data":[\#(items.joined(separator: ","))]}"#.utf8))
        #expect(isUsable && answer.covers(kind.topics(of: [])))
        let part = answer.part(of: kind.topics(of: []), after: Self.id(.endorser, 3))
        #expect(String(decoding: part.body, as: UTF8.self) == #"{"data":[\#(items[0])]}"#)
        let isUsableWithoutID = answer.add(Array(#"{"data":[{"handleId":"a"}]}"#.utf8))
        #expect(!isUsableWithoutID)
    }

    @Test func anUnreadablePageMakesTheAnswerUseless() {
        for body in ["", "{", "[]", "{}", #"{"data":7}"#, #"{"data":[],"hitLimit":1}"#] {
            var answer = SharedAnswer(dialect: .endorser, after: Self.id(.endorser, 0), topics: Self.plans)
            let isUsable = answer.add(Array(body.utf8))
            #expect(!isUsable)
        }
    }

    @Test func anInvalidItemGoesToTheAccountsOfItsPlan() throws {
        let id = Self.id(.endorser, 5).rawValue
        let item = #"{"plan":{"jwtId":"\#(id)","handleId":"\#(Self.plans[0])","name":[7]}}"#
        var answer = SharedAnswer(dialect: .endorser, after: Self.id(.endorser, 0), topics: Self.plans)
        let isUsable = answer.add(Array(#"{"data":[\#(item)],"hitLimit":false}"#.utf8))
        #expect(isUsable)
        let part = answer.part(of: [Self.plans[0]], after: nil)
        #expect(String(decoding: part.body, as: UTF8.self) == #"{"data":[\#(item)],"hitLimit":false}"#)
        #expect(answer.part(of: [Self.plans[1]], after: nil).count == 0)
    }

    @Test func anAnswerIsBounded() {
        let id = Self.id(.endorser, 5).rawValue
        let text = String(repeating: "x", count: 300_000)
        let page =
            #"{"data":[{"plan":{"jwtId":"\#(id)","handleId":"\#(Self.plans[0])","name":"\#(text)"}}],"hitLimit":true}"#
        var answer = SharedAnswer(dialect: .endorser, after: Self.id(.endorser, 0), topics: Self.plans)
        let results = (0..<4).map { _ in answer.add(Array(page.utf8)) }
        #expect(results == [true, true, true, false])
        let empty = Array(#"{"data":[],"hitLimit":false}"#.utf8)
        var long = SharedAnswer(dialect: .endorser, after: Self.id(.endorser, 0), topics: Self.plans)
        let added = (0..<12).count { _ in long.add(empty) }
        #expect(added == 10)
    }
}
