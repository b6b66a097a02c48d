import StarwatchCore
import Testing

/// Pages of gifts, of offers to projects, and of own projects.
@Suite struct GivePageTests {
    private static let ids = ["01ARZ3NDEKTSV4RRFFQ69G5FAW", "01ARZ3NDEKTSV4RRFFQ69G5FAV"]
    private static let me = DID("did:ethr:0x00000000000000000000000000000000000000Aa")!

    /// A page as the endorser server writes it, which sends `hitLimit` only when it is true.
    private func page(
        _ items: [String],
        of kind: PollKind,
        _ validation: Validation = .strict,
        cursor: JWTID? = JWTID(Self.ids[1]),
        plans: Set<String>? = nil
    ) throws -> Page {
        try PageDecoder(
            dialect: .endorser,
            kind: kind,
            validation: validation,
            quarantine: false,
            context: PageContext(author: Self.me, cursor: cursor, plans: plans)
        ).decode(Array(#"{"data":[\#(items.joined(separator: ","))]}"#.utf8))
    }

    private func give(_ id: String, plan: String?, more: String = "") -> String {
        let plan = plan.map { "\"\($0)\"" } ?? "null"
        return #"""
            {"jwtId":"\#(id)","handleId":"https://endorser.ch/entity/\#(id)","issuedAt":"2026-01-01T00:00:00Z",
            "updatedAt":"2026-01-01T00:00:00Z","issuerDid":"did:ethr:0xb0","agentDid":"did:ethr:0xb0","recipientDid":null,
            "fulfillsHandleId":null,"fulfillsType":null,"fulfillsLinkConfirmed":false,"giftNotTrade":true,
            "fulfillsPlanHandleId":\#(plan),"amountConfirmed":0,"amount":2,"unit":"HUR","description":"Two hours",
            "emojiCount":"{}","fullClaim":{"@type":"GiveAction","object":[[[[{"description":7}]]]]}\#(more)}
            """#
    }

    @Test func aGiftHasItsProjectOrElseItsOwnHandle() throws {
        let items = [give(Self.ids[0], plan: "https://endorser.ch/entity/P"), give(Self.ids[1], plan: nil)]
        let page = try page(items, of: .givesToMe)
        let own = "https://endorser.ch/entity/\(Self.ids[1])"
        #expect(page.changes.map(\.change.plan) == ["https://endorser.ch/entity/P", own])
        #expect(page.changes.map(\.change.isOffer) == [false, true])
        #expect(page.changes.map(\.change.name) == ["Two hours", "Two hours"])
        #expect(page.changes.allSatisfy { $0.details == nil && !$0.isOwn } && !page.hasMore)
    }

    @Test(arguments: [PollKind.givesToStarred, .givesToMyProjects])
    func whatIsGivenToAProjectIsNotTakenForItsName(kind: PollKind) throws {
        let named = #","planName":"Garden""#
        let items = [give(Self.ids[0], plan: "p"), give(Self.ids[1], plan: "p", more: named)]
        #expect(try page(items, of: kind).changes.map(\.change.name) == [nil, "Garden"])
    }

    /// A gift to a project with these links in its claim, and with the server's own fields for one of them.
    private func give(links: String, type: String = "null", handle: String = "null") -> String {
        let claim = #""@type":"GiveAction""#
        return give(Self.ids[0], plan: "p")
            .replacing(claim, with: #"\#(claim),"fulfills":\#(links)"#)
            .replacing(#""fulfillsHandleId":null"#, with: #""fulfillsHandleId":\#(handle)"#)
            .replacing(#""fulfillsType":null"#, with: #""fulfillsType":\#(type)"#)
    }

    private static let offerLink = #"{"@type":"Offer","identifier":"https://endorser.ch/entity/O"}"#

    @Test(arguments: [PollKind.givesToMe, .givesToMyProjects, .givesToStarred], Validation.allCases)
    func aGiftHonoursAnOfferThatTheServerOrItsClaimNames(kind: PollKind, validation: Validation) throws {
        let links = #"[{"@type":"PlanAction","identifier":"p"},\#(Self.offerLink),{"@type":"DonateAction"}]"#
        let gifts = [
            give(links: Self.offerLink, type: #""Offer""#, handle: #""https://endorser.ch/entity/O""#),
            give(links: "null", type: #""Offer""#, handle: #""o""#), give(links: Self.offerLink),
            give(links: #"{"@type":"Offer","lastClaimId":"\#(Self.ids[1])"}"#),
            give(links: links, type: #""PlanAction""#, handle: #""p""#),
        ]
        for gift in gifts {
            #expect(try page([gift], of: kind, validation).changes.map(\.change.fulfillsOffer) == [true], "\(gift)")
        }
    }

    private static let linksToNoOffer: [String] = [
        "null", "7", "[]", "[7,null]", "{}", #""Offer""#, #"{"@type":"Offer"}"#, #"{"@type":"Offer","identifier":""}"#,
        #"{"@type":"Offer","identifier":7,"lastClaimId":["o"]}"#, #"{"@type":["Offer"],"identifier":"o"}"#,
        #"{"@type":"\q","identifier":"o"}"#, #"{"@type":"PlanAction","identifier":"o"}"#, #"[[\#(offerLink)]]"#,
        #"{"a":\#(offerLink)}"#, #"[\#(String(repeating: "0,", count: 1000))\#(offerLink)]"#,
    ]

    @Test(arguments: linksToNoOffer)
    func aGiftWhoseLinksNameNoOfferHonoursNone(links: String) throws {
        for validation in Validation.allCases {
            let gifts = [
                give(links: links, type: #""Offer""#), give(links: links, type: #""PlanAction""#, handle: #""o""#),
            ]
            for gift in gifts {
                #expect(try page([gift], of: .givesToMe, validation).changes.map(\.change.fulfillsOffer) == [false])
            }
        }
    }

    @Test func whatAnOfferFulfillsIsNoOffer() throws {
        let offer = offer(claim: #"{"fulfills":\#(Self.offerLink)}"#)
        let changes = try page([offer], of: .offersToStarred).changes
        #expect(changes.map(\.change.fulfillsOffer) == [false])
    }

    /// An edition of an offer to a project, as the report of offers to projects has it.
    private func offer(claim: String) -> String {
        #"""
        {"jwtId":"\#(Self.ids[0])","handleId":"https://endorser.ch/entity/\#(Self.ids[1])","amount":1,"unit":"HUR",
        "issuedAt":"2026-01-01T00:00:00Z","updatedAt":"2026-01-01T00:00:00Z","offeredByDid":"\#(Self.me.rawValue)",
        "objectDescription":"One hour","validThrough":null,"fullClaim":\#(claim)}
        """#
    }

    @Test func anOfferToAStarredProjectHasTheProjectOfItsClaim() throws {
        let claim = #"""
            {"@context":"https://schema.org","@type":"Offer","itemOffered":{"description":"One hour","isPartOf":
            {"@type":"PlanAction","lastClaimId":"\#(Self.ids[1])","identifier":"https://endorser.ch/entity/P"}}}
            """#
        let fetched = try #require(try page([offer(claim: claim)], of: .offersToStarred).changes.first)
        #expect(fetched.change.plan == "https://endorser.ch/entity/P" && !fetched.change.isOffer)
        #expect(fetched.change.isEdition && fetched.change.name == nil && fetched.isOwn)
        // Another report says in its own field whether an offer is for a plan.
        #expect(try page([offer(claim: claim)], of: .offersToMe).changes.map(\.change.isOffer) == [true])
    }

    @Test func anOfferWhoseClaimNamesAProjectThatWasNotAskedForKeepsItsOwnHandle() throws {
        let claim = #"{"itemOffered":{"isPartOf":{"identifier":"https://endorser.ch/entity/P"}}}"#
        func change(_ plans: Set<String>) throws -> Change? {
            try page([offer(claim: claim)], of: .offersToStarred, plans: plans).changes.first?.change
        }
        let other = try change(["https://endorser.ch/entity/Q"])
        #expect(other?.plan == "https://endorser.ch/entity/\(Self.ids[1])" && other?.isOffer == true)
        let asked = try change(["https://endorser.ch/entity/P", "https://endorser.ch/entity/Q"])
        #expect(asked?.plan == "https://endorser.ch/entity/P" && asked?.isOffer == false)
    }

    private static let claimsOfNoPlan: [String] = [
        #"{"@type":"Offer"}"#, "7", "null", #""{""#, "[[[[[[[[[[]]]]]]]]]]", #"{"itemOffered":7}"#,
        #"{"itemOffered":[{"isPartOf":{"identifier":"p"}}]}"#, #"{"itemOffered":{"isPartOf":"p"}}"#,
        #"{"fulfills":7}"#, #"{"fulfills":"p"}"#, #"{"fulfills":{}}"#,
        #"{"fulfills":[7,null,"p",[{"identifier":"p"}]]}"#,
        #"{"fulfills":{"identifier":"","lastClaimId":"p"}}"#, #"{"fulfills":{"lastClaimId":["\#(ids[0])"]}}"#,
        #"{"fulfills":{"@type":"Offer","lastClaimId":"\#(ids[0])"}}"#,
        #"{"fulfills":[\#(String(repeating: "0,", count: 1000)){"identifier":"p"}]}"#,
        // Anybody writes a claim, so not all of its links are read.
        #"{"fulfills":[\#(String(repeating: "0,", count: 100))\#(link(barn))]}"#,
    ]

    @Test(
        arguments: claimsOfNoPlan
            + [
                "7", "null", "\"\"", "{}", #""\q""#, "\"01ARZ3NDEKTSV4RRFFQ69G5FAV\"",
                "\"" + String(repeating: "p", count: 2049) + "\"",
            ].map { #"{"itemOffered":{"isPartOf":{"@type":"PlanAction","identifier":\#($0)}}}"# }
    )
    func anOfferWhoseClaimNamesNoProjectKeepsItsOwnHandle(claim: String) throws {
        for validation in Validation.allCases {
            let page = try page([offer(claim: claim)], of: .offersToStarred, validation)
            let change = try #require(page.changes.first?.change)
            #expect(change.plan == "https://endorser.ch/entity/\(Self.ids[1])" && change.isOffer)
            #expect(change.isEdition && change.name == nil)
        }
    }

    private static let (garden, barn) = ("https://endorser.ch/entity/\(ids[1])", "https://endorser.ch/entity/barn")
    private static let handle = "https://endorser.ch/entity/\(ids[1])"

    private static let offered: [(claim: String, plan: String)] = [
        (#"{"fulfills":\#(link(barn))}"#, barn), (#"{"fulfills":[7,{"@type":"Offer"},\#(link(barn))]}"#, barn),
        (#"{"fulfills":[\#(String(repeating: "0,", count: 99))\#(link(barn))]}"#, barn),
        (#"{"fulfills":\#(link(barn)),\#(partOf(garden))}"#, barn),
        (#"{\#(partOf(garden)),"fulfills":[\#(link(barn))]}"#, barn),
        (#"{"fulfills":null,\#(partOf(barn))}"#, barn), (#"{"fulfills":[],\#(partOf(barn))}"#, barn),
        // A project without a star cannot be the one that the server has.
        (#"{"fulfills":\#(link("https://example.org/other")),\#(partOf(barn))}"#, barn),
        (#"{"fulfills":[\#(link("https://example.org/other")),\#(link(barn))]}"#, barn),
        // The first claim of a project is in its handle, and wins over another one.
        (#"{"fulfills":{"lastClaimId":"\#(ids[1])"}}"#, garden),
        (#"{"fulfills":{"@type":"PlanAction","lastClaimId":"\#(ids[1])","identifier":"\#(barn)"}}"#, garden),
        (#"{"fulfills":{"lastClaimId":"\#(ids[0])","identifier":"\#(barn)"}}"#, barn),
        (#"{"itemOffered":{"isPartOf":{"lastClaimId":"\#(ids[1])"}}}"#, garden),
    ]

    /// The server reads `fulfills` since January 2025, and `isPartOf` only without it.
    @Test(arguments: offered)
    func anOfferHasTheStarredProjectThatTheServerReads(claim: String, plan: String) throws {
        let page = try page([offer(claim: claim)], of: .offersToStarred, plans: [Self.garden, Self.barn, "x"])
        let fetched = try #require(page.changes.first)
        #expect(fetched.change.plan == plan && !fetched.change.isOffer && fetched.planClaim == nil)
    }

    private static func link(_ plan: String) -> String { #"{"@type":"PlanAction","identifier":"\#(plan)"}"# }
    private static func partOf(_ plan: String) -> String { #""itemOffered":{"isPartOf":\#(link(plan))}"# }

    /// The server knows the project of every claim, and the page only its claim: `isPartOf` can be another one.
    @Test(arguments: [
        #"{"fulfills":{"lastClaimId":"\#(ids[0])"},\#(partOf(barn))}"#,
        #"{"fulfills":[{"@type":"Offer","lastClaimId":"\#(ids[1])"},{"lastClaimId":"\#(ids[0])"}]}"#,
        #"{"fulfills":{"@type":"PlanAction","lastClaimId":"\#(ids[0])","identifier":"https://example.org/other"}}"#,
        #"{"itemOffered":{"isPartOf":{"lastClaimId":"\#(ids[0])"}}}"#,
    ])
    func anOfferThatNamesALaterClaimOfItsProjectIsLeftToTheStore(claim: String) throws {
        let fetched = try #require(
            try page([offer(claim: claim)], of: .offersToStarred, plans: [Self.barn]).changes.first
        )
        #expect(fetched.planClaim?.rawValue == Self.ids[0])
        #expect(fetched.change.plan == Self.handle && fetched.change.isOffer)
        let offered = fetched.offered(to: Self.barn)
        #expect(offered.change.plan == Self.barn && !offered.change.isOffer)
        #expect(offered.change.isEdition == fetched.change.isEdition && offered.isOwn == fetched.isOwn)
    }

    @Test func aClaimInTheHandlesOfTwoProjectsNamesNeither() throws {
        let claim = #"{"fulfills":{"lastClaimId":"\#(Self.ids[1])"}}"#
        let plans: Set<String> = [Self.garden, "https://example.org/\(Self.ids[1])"]
        let fetched = try page([offer(claim: claim)], of: .offersToStarred, plans: plans).changes.first
        #expect(fetched?.change.isOffer == true && fetched?.planClaim?.rawValue == Self.ids[1])
    }

    @Test func aGiftToAProjectHasTheNameThatIsKnownOfTheProject() throws {
        let items = [give(Self.ids[0], plan: "p"), give(Self.ids[1], plan: "q", more: #","planName":"Barn""#)]
        let page = try PageDecoder(
            dialect: .endorser,
            kind: .givesToMyProjects,
            validation: .strict,
            quarantine: false,
            context: PageContext(names: ["p": "Garden", "q": "Former name", "r": "Other"])
        ).decode(Array(#"{"data":[\#(items.joined(separator: ","))]}"#.utf8))
        #expect(page.changes.map(\.change.name) == ["Garden", "Barn"])
    }

    @Test func anEditionOfAGiftToAProjectIsKnownByItsHandle() throws {
        let first = give(Self.ids[1], plan: "p")
        let edition = give(Self.ids[0], plan: "p").replacing("entity/\(Self.ids[0])", with: "entity/\(Self.ids[1])")
        let changes = try page([edition, first], of: .givesToStarred).changes.map(\.change)
        #expect(changes.map(\.isEdition) == [true, false])
        #expect(changes.map(\.plan) == ["p", "p"] && changes.allSatisfy { !$0.isOffer })
    }

    @Test(arguments: [PollKind.givesToMe, .givesToStarred], ["p", nil])
    func whatWasEditedBeforeAnyCycleSawItIsNew(kind: PollKind, plan: String?) throws {
        let edition = give(Self.ids[0], plan: plan).replacing("entity/\(Self.ids[0])", with: "entity/\(Self.ids[1])")
        func isEdition(after cursor: String?) throws -> [Bool] {
            try page([edition], of: kind, cursor: cursor.flatMap { JWTID($0) }).changes.map(\.change.isEdition)
        }
        #expect(try isEdition(after: nil) == [false])
        #expect(try isEdition(after: "01ARZ3NDEKTSV4RRFFQ69G5FAT") == [false])
        for cursor in Self.ids { #expect(try isEdition(after: cursor) == [true]) }
    }

    @Test func aHandleWithoutAnIdentifierDoesNotTellOfAnEdition() throws {
        for handle in ["gift_1", "https://example.org/x", "1704067200_abc123_def45678"] {
            let item = give(Self.ids[0], plan: "p")
                .replacing("https://endorser.ch/entity/\(Self.ids[0])", with: handle)
            let last = JWTID(Self.ids[0])
            #expect(try page([item], of: .givesToStarred, cursor: last).changes.map(\.change.isEdition) == [false])
        }
    }

    @Test(arguments: [
        ("description", #"{"a":"b"}"#), ("fulfillsPlanHandleId", "7"), ("fulfillsType", "7"),
        ("fulfillsHandleId", "{}"), ("fullClaim", "[[[[[[[]]]]]]]"),
    ])
    func fieldsThatNobodyNeedsCanBeAnything(field: String, value: String) throws {
        let item = #"{"jwtId":"\#(Self.ids[0])","handleId":"h","\#(field)":\#(value)}"#
        #expect(try page([item], of: .givesToStarred, .lenient).changes.map(\.change.plan) == ["h"])
    }

    @Test func anItemWithoutAnIdentifierIsRejected() throws {
        #expect(throws: PageRejection.self) { try page([#"{"jwtId":7,"handleId":"h"}"#], of: .givesToMe) }
        #expect(throws: PageRejection.self) { try page([#"{"handleId":"h"}"#], of: .givesToMe) }
    }

    @Test func ownProjectsAreReadByTheirHandles() throws {
        func read(_ text: String) throws -> OwnClaimsPage { try #require(OwnClaimsPage.read(Array(text.utf8))).get() }
        let row = #"{"rowid":7,"rowId":7,"jwtId":"x","handleId":"a","name":"Garden"}"#
        #expect(
            try read(#"{"data":[\#(row)]}"#) == OwnClaimsPage(claims: [.init(handle: "a", name: "Garden")], next: nil)
        )
        #expect(try read(#"{"data":[\#(row)],"hitLimit":false}"#).next == nil)
        #expect(try read(#"{"data":[\#(row)],"hitLimit":true}"#).next == "7")
        #expect(try read(#"{"data":[{"jwtId":"x","handleId":"a"}],"hitLimit":true}"#).next == "x")
        let long = String(repeating: "x", count: 2049)
        let odd = #"{"data":[{"handleId":""},{"handleId":7},{},7,{"handleId":"\#(long)"},{"handleId":"b"}]}"#
        #expect(try read(odd) == OwnClaimsPage(claims: [.init(handle: "b")], next: nil))
        #expect(try read(#"{"data":[{"handleId":"b","name":7}]}"#).claims.map(\.name) == [nil])
        for text in ["7", "{}", #"{"data":{}}"#, #"{"data":[],"hitLimit":true}"#] {
            #expect(throws: PageRejection.self) { try read(text) }
        }
        #expect(OwnClaimsPage.read(Array("{".utf8)) == nil)
    }

    @Test func theNewestOwnProjectsAreAskedForUpToALimit() {
        func page(_ range: some Sequence<Int>, next: String? = nil) -> OwnClaimsPage {
            OwnClaimsPage(claims: range.map { .init(handle: "p\($0)", name: "Project \($0)") }, next: next)
        }
        var plans = OwnClaims(limit: 3)
        #expect(plans.add(page([9, 8], next: "8"), number: 1) == "8")
        // A project is the account's in both roles, and counts once.
        #expect(plans.add(page([7, 8], next: "7"), number: 2) == "7" && !plans.areCut)
        #expect(plans.add(page([9, 8, 7], next: "7"), number: 3) == "7" && !plans.areCut)
        #expect(plans.add(page([6, 5], next: "5"), number: 4) == nil && plans.areCut)
        #expect(plans.handles == ["p9", "p8", "p7"] && plans.names["p7"] == "Project 7" && plans.names.count == 3)

        var few = OwnClaims(limit: 3)
        #expect(few.add(page([2, 1]), number: 1) == nil && few.add(page([]), number: 1) == nil && !few.areCut)
        // One too long for a request is not asked for.
        let long = OwnClaimsPage(claims: [.init(handle: String(repeating: "/", count: 2400))], next: nil)
        #expect(few.add(long, number: 1) == nil && few.handles == ["p2", "p1"])
        // A server that sends the same page for ever.
        #expect(few.add(page([2, 1], next: "1"), number: OwnClaims.mostPages) == nil && few.areCut)
    }

    @Test func plansInAQueryFitIntoTheRequestLineOfAProxy() {
        var random = SplitMix64(seed: 14)
        let plans = (0..<3000).map { index in
            "https://endorser.ch/entity/\(index)-ü\"\\"
                + String(repeating: "x", count: Int.random(in: 0..<60, using: &random))
        }
        let chunks = PlanChunk.split(plans, dialect: .endorser, form: .query)
        #expect(chunks.reduce(0) { $0 + $1.count } == plans.count)
        let lengths = chunks.map { chunk in
            let items = PageQuery(after: nil).items(of: .givesToStarred, for: Self.me, plans: chunk, startCursor: "0")
            return PercentEncoding.encode(items[0].1).utf8.count
        }
        #expect(lengths.allSatisfy { $0 <= 7000 } && lengths.dropLast().allSatisfy { $0 > 6500 }, "\(lengths)")
        // The server rejects one that is too long for any request.
        let long = [String](repeating: String(repeating: "/", count: 2048), count: 3)
        #expect(PlanChunk.split(long + long, dialect: .endorser, form: .query).map(\.count) == [1, 1, 1, 1, 1, 1])
    }

    @Test func onlyPollsOfTheSameClaimsOverlap() {
        // The names of kinds begin with their claims, and those of starred projects are of projects.
        let families = Dictionary(grouping: PollKind.ofEndorser) { kind in
            kind == .starredProjects ? "projects" : kind.rawValue.prefix { $0 != "_" }
        }
        #expect(families["offers"]?.count == 3 && families["projects"] == [.starredProjects, .projectsOfInterest])
        for family in families.values {
            for kind in PollKind.allCases {
                #expect(family.allSatisfy { $0.overlaps(kind) == family.contains(kind) })
            }
        }
        // Two lists have nothing in common.
        #expect(!PollKind.allCases.contains { $0.overlaps(.json) || PollKind.json.overlaps($0) })
    }
}
