import Foundation
import MockEndorser
import StarwatchCore
import StarwatchStore
import Testing

@testable import Starwatch

/// Polls of everybody's projects, whose pages go by rows while the cursor is an identifier.
@Suite struct ProjectsOfInterestTests {
    private static let poll = PollKind.projectsOfInterest.rawValue
    private static let other = "did:ethr:0x00000000000000000000000000000000000000c1"
    private static let berlin = GeoCircle(center: GeoPoint(latitude: 52.52, longitude: 13.405), kilometers: 20)

    private func start(_ world: World, near: GeoCircle? = nil, words: [String] = []) async throws -> Agent {
        try world.folder.write(World.ethrKey, to: "key")
        return try await world.agent { options in
            (options.auth.kind, options.auth.keyFile) = (.didKey, world.folder.path("key"))
            options.server.dialect = .endorser
            options.polls[0].planIDs = []
            var poll = PollOptions(name: PollName(Self.poll)!, kind: .projectsOfInterest)
            (poll.near, poll.words) = (near, words)
            options.polls.append(poll)
        }
    }

    /// A world without plans, in which the agent's first run has ended.
    private func with(
        near: GeoCircle? = nil,
        words: [String] = [],
        _ plans: [MockPlan] = [],
        _ body: (World, Agent) async throws -> Void
    ) async throws {
        try await World.with(.endorser, plans: 0) { world in
            world.mock.setPlanCatalogue(plans)
            let agent = try await start(world, near: near, words: words)
            #expect(try await agent.runPoll(Self.poll).outcome == "bootstrapped")
            world.clock.advance(by: .seconds(900))
            try await body(world, agent)
        }
    }

    /// A handle whose end is an identifier of before the first run, as that of a plan which was never edited.
    private func id(_ number: Int) -> String { "https://endorser.ch/entity/01JWMCKG0022HDXJ4G4Q6\(10_000 + number)" }

    private func plan(_ number: Int, _ name: String = "Garden", at place: (Double, Double)? = nil) -> MockPlan {
        var plan = MockPlan(id: id(number), name: name, issuerDID: Self.other)
        (plan.latitude, plan.longitude) = (place?.0, place?.1)
        return plan
    }

    private func edit(_ plans: [String], in world: World, by issuer: String = Self.other) -> [String] {
        world.mock.publish(
            plans.map { plan in
                var change = MockChange(planID: plan)
                (change.issuerDID, change.description) = (issuer, "-")
                return change
            }
        )
    }

    private func messages(_ world: World) throws -> [NotificationMessage] {
        (FileManager.default.contents(atPath: world.folder.path("sink.jsonl")) ?? Data())
            .split(separator: UInt8(ascii: "\n")).compactMap { NotificationMessage(json: Array($0)) }
    }

    private func cursor(_ agent: Agent, of world: World) async throws -> JWTID? {
        let stream = StreamKey(account: world.did, server: agent.runtime.account.server, poll: PollName(Self.poll)!)
        return try await agent.store.polls.state(stream, maxUndelivered: 1000).fetchCursor
    }

    // MARK: - Near a place

    @Test func anEditOfANearProjectIsAnnouncedOnceAndThatOfAFarOneIsNot() async throws {
        // The third is in the box, and outside the circle.
        let plans = [plan(1, at: (52.5, 13.4)), plan(2, at: (48.1, 11.6)), plan(3, at: (52.69, 13.69)), plan(4)]
        try await with(near: Self.berlin, plans) { world, agent in
            let ids = edit(plans.map(\.id), in: world)
            #expect(try await agent.runPoll(Self.poll).new == 1)
            #expect(try world.announced == [ids[0]])
            let message = try #require(try messages(world).first)
            #expect(message.title == "New or Edited Project" && message.body.contains("Garden"))
            #expect(message.changes.map(\.plan) == [id(1)])
            // The first cycle still fetches what can have become visible late.
            for _ in 1...2 {
                world.clock.advance(by: .seconds(900))
                #expect(try await agent.runPoll(Self.poll).outcome == "unchanged")
            }
            // A project that moves here is seen, although its row stays.
            world.mock.setPlanCatalogue([plans[0], plan(2, at: (52.6, 13.5)), plans[2], plans[3]])
            let moved = edit([id(2)], in: world)
            #expect(try await agent.runPoll(Self.poll).new == 1)
            #expect(try world.announced == [ids[0], moved[0]])
        }
    }

    @Test func aCircleAcrossTheMeridianOf180DegreesTakesTwoRequests() async throws {
        let fiji = GeoCircle(center: GeoPoint(latitude: -17, longitude: 179.9), kilometers: 100)
        let plans = [plan(1, at: (-17, 179.8)), plan(2, at: (-17, -179.9)), plan(3, at: (-17, 178))]
        try await with(near: fiji, plans) { world, agent in
            let ids = edit(plans.map(\.id), in: world)
            world.mock.forgetRequests()
            let report = try await agent.runPoll(Self.poll)
            #expect(report.new == 2 && world.mock.requestCount(of: .plans) == 2)
            #expect(try world.announced.sorted() == ids.prefix(2).sorted())
        }
    }

    // MARK: - With a word

    @Test func aProjectWithOneOfTheWordsIsAnnouncedOnce() async throws {
        let plans = [plan(1, "Solar Garden"), plan(2, "Barn"), plan(3, "Tool Library"), plan(4, "School of Tools")]
        try await with(words: ["garden", "solar", "TOOL school"], plans) { world, agent in
            let ids = edit(plans.map(\.id), in: world)
            let report = try await agent.runPoll(Self.poll)
            #expect(report.new == 2)
            #expect(try world.announced.sorted() == [ids[0], ids[3]])
            world.clock.advance(by: .seconds(900))
            #expect(try await agent.runPoll(Self.poll).new == 0)
        }
    }

    // MARK: - Fulfilling the account's own

    @Test func aProjectThatFulfilsOneOfTheAccountIsAnnounced() async throws {
        try await World.with(.endorser, plans: 0) { world in
            let agent = try await start(world)
            var (mine, child, stranger) = (plan(1, "Mine"), plan(2, "Child"), plan(3, "Stranger"))
            mine.issuerDID = world.did.rawValue
            world.mock.setPlanCatalogue([mine, child, stranger])
            #expect(try await agent.runPoll(Self.poll).outcome == "bootstrapped")
            world.clock.advance(by: .seconds(900))
            child.fulfilledID = id(1)
            stranger.fulfilledID = id(2)
            world.mock.setPlanCatalogue([mine, child, stranger])
            let ids = edit([id(2), id(3)], in: world) + edit([id(1)], in: world, by: world.did.rawValue)
            #expect(try await agent.runPoll(Self.poll).new == 1)
            #expect(try world.announced == [ids[0]])
            #expect(try messages(world).first?.changes.map(\.plan) == [id(2)])
            // What is left out is not asked for again.
            world.clock.advance(by: .seconds(900))
            try await agent.runPoll(Self.poll)
            world.clock.advance(by: .seconds(900))
            world.mock.forgetRequests()
            #expect(try await agent.runPoll(Self.poll).outcome == "unchanged")
            let queries = world.mock.requests(to: .plans).map { $0.query ?? "" }
            #expect(queries.count == 1 && queries[0].hasPrefix("jwtId_greaterThan=01"), "\(queries)")
        }
    }

    // MARK: - Cursor

    @Test func theCursorIsTheNewestIdentifierOfAllPages() async throws {
        let plans = (1...120).map { plan($0) }
        try await with(words: ["garden"], plans) { world, agent in
            // The oldest row has the newest edit, and is on the last page.
            let ids = edit(plans.map(\.id).reversed(), in: world)
            world.mock.forgetRequests()
            #expect(try await agent.runPoll(Self.poll).new == 120)
            let queries = world.mock.requests(to: .plans).map { $0.query ?? "" }
            #expect(queries.count == 3 && !queries[0].contains("beforeId"))
            #expect(queries[1].hasSuffix("beforeId=71") && queries[2].hasSuffix("beforeId=21"))
            #expect(queries.allSatisfy { !$0.contains("afterId") })
            #expect(Set(try world.announced).isSubset(of: ids))
            // Several requests show no single moment, so what changed since the first one is asked for again.
            let stored = try #require(await cursor(agent, of: world))
            #expect(stored.rawValue <= ids[119])
            world.clock.advance(by: .seconds(900))
            #expect(try await agent.runPoll(Self.poll).outcome == "unchanged")
        }
    }

    @Test func aFailureBetweenPagesMovesNoCursorAndLosesNothing() async throws {
        let plans = (1...60).map { plan($0) }
        try await with(words: ["garden"], plans) { world, agent in
            let before = try await cursor(agent, of: world)
            let ids = edit(plans.map(\.id), in: world)
            // The row with the newest edit is on the first page, and the item that breaks the second one is not.
            world.mock.setStickyFault(.unreadableItem(ids[3]), at: .plans)
            #expect(try await agent.runPoll(Self.poll).outcome == "failed")
            #expect(try await cursor(agent, of: world) == before)
            #expect(try world.announced == [])
            world.mock.clearFaults()
            let next = try await start(world, words: ["garden"])
            world.clock.advance(by: .seconds(900))
            #expect(try await next.runPoll(Self.poll).new == 60)
        }
    }

    @Test func withoutAnyMatchTheFirstRunAnnouncesNothingOldLater() async throws {
        try await with(words: ["garden"]) { world, agent in
            let start = try await cursor(agent, of: world)
            #expect(start != nil)
            world.mock.setPlanCatalogue([plan(1)])
            #expect(try await agent.runPoll(Self.poll).outcome == "unchanged")
        }
    }

    // MARK: - Hostile rows

    @Test func aPageWhoseRowsDoNotFallIsRefused() async throws {
        try await with(words: ["garden"]) { world, agent in
            let before = try await cursor(agent, of: world)
            let id = "01JZZZZZZZ0000000000000000"
            let row = #"{"jwtId":"\#(id)","handleId":"https://e.x/1","rowId":7,"name":"Garden"}"#
            for rows in [row, #"{"jwtId":"\#(id)","handleId":"https://e.x/1","rowId":"7","name":"Garden"}"#] {
                world.mock.setStickyFault(.status(200, body: #"{"data":[\#(rows)],"hitLimit":true}"#), at: .plans)
                #expect(try await agent.runPoll(Self.poll).outcome == "failed")
            }
            #expect(world.mock.requestCount(of: .plans) < 10)
            #expect(try await cursor(agent, of: world) == before)
        }
    }

    @Test func oddRowsAreReadAsFarAsTheyGo() async throws {
        try await with(near: Self.berlin) { world, agent in
            let ids = (1...5).map { JWTID.floor(.ulid, at: world.clock.now - .seconds($0)).rawValue }
            let rows = [
                #"{"jwtId":"\#(ids[0])","handleId":"https://e.x/0","locLat":"52.5","locLon":13.4}"#,
                #"{"jwtId":"\#(ids[1])","handleId":"https://e.x/1","locLat":1e300,"locLon":-1e300}"#,
                #"{"jwtId":"\#(ids[2])","handleId":"https://e.x/2","name":7,"fulfillsPlanHandleId":{},"locLat":null}"#,
                #"{"jwtId":"\#(ids[3])","handleId":"https://e.x/3","planSummary":{},"locLat":52.52,"locLon":13.405}"#,
                #"{"jwtId":"\#(ids[4])","handleId":"https://e.x/4","locLat":-52.52,"locLon":13.405}"#,
            ]
            world.mock.setStickyFault(
                .status(200, body: #"{"data":[\#(rows.joined(separator: ","))]}"#),
                at: .plans
            )
            // A row without a readable place is where the server says.
            let report = try await agent.runPoll(Self.poll)
            #expect(report.new == 3)
            #expect(Set(try world.announced) == [ids[0], ids[2], ids[3]])
            #expect(try await cursor(agent, of: world)?.rawValue == ids[0])
        }
    }
}
