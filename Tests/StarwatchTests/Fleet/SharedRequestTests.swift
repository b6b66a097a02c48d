import Foundation
import MockEndorser
import StarwatchCore
import StarwatchPolling
import StarwatchStore
import StarwatchTransport
import Testing

@testable import Starwatch

/// Accounts that share the requests for their starred projects.
@Suite struct SharedRequestTests {
    @Test(arguments: MockDialect.allCases) func oneRequestServesAllAccounts(_ dialect: MockDialect) async throws {
        try await Crowd.with(dialect) { crowd in
            let ids = crowd.publish(0..<3)
            let before = crowd.requests
            await crowd.round()
            #expect(crowd.requests == before + 1)
            #expect(await crowd.metric("starwatch_fleet_shared_polls_total") == 12)
            #expect(await crowd.metric("starwatch_fleet_shared_requests_total") == 1)
            // Each account stars two of the four projects.
            for index in 0..<12 {
                let own = (0..<3).filter { $0 == index % 4 || $0 == (index + 1) % 4 }
                try #expect(crowd.announced(to: index).sorted() == own.map { ids[$0] }.sorted())
            }
        }
    }

    @Test func aSharedRequestCarriesAllProjectsAndNoAccount() async throws {
        try await Crowd.with(.endorser) { crowd in
            await crowd.round()
            let request = try #require(crowd.world.mock.requests(to: .plansChanged).last)
            let body = String(decoding: request.body, as: UTF8.self)
            #expect(crowd.plans.allSatisfy(body.contains))
            #expect(request.header("Authorization") == nil)
            // Only its own requests count for an account: those of its first poll.
            let windows = try await crowd.agent.store.polls.requestWindow(of: Crowd.did(0))
            await crowd.round()
            #expect(try await crowd.agent.store.polls.requestWindow(of: Crowd.did(0)) == windows)
        }
    }

    @Test func eachAccountAsksAloneIfTheSettingIsOff() async throws {
        try await Crowd.with(.endorser) {
            $0.fleet.sharedRequests = false
        } _: { crowd in
            let before = crowd.requests
            await crowd.round()
            #expect(crowd.requests == before + 12)
            #expect(await crowd.metric("starwatch_fleet_shared_polls_total") == 0)
        }
    }

    @Test func fewAccountsAskAlone() async throws {
        try await Crowd.with(.endorser, accounts: 4) { crowd in
            let before = crowd.requests
            await crowd.round()
            #expect(crowd.requests == before + 4)
        }
    }

    /// A change of the new star that came after the account's last one is news to it, however long ago that was.
    @Test func anAccountWithANewStarAsksAlone() async throws {
        try await Crowd.with(.endorser) { crowd in
            let ids = crowd.publish(0..<4)
            for _ in 0..<10 { await crowd.round() }
            try #expect(crowd.announced(to: 0).sorted() == [ids[0], ids[1]])
            try await crowd.setStars(of: 0, to: [0, 1, 2])
            let before = crowd.requests
            await crowd.round()
            #expect(crowd.requests == before + 2)
            try #expect(crowd.announced(to: 0).sorted() == [ids[0], ids[1], ids[2]])
            // From now on the account shares again.
            await crowd.round()
            #expect(crowd.requests == before + 3)
        }
    }

    @Test func anAnswerServesAFifthOfTheInterval() async throws {
        try await Crowd.with(.endorser, accounts: 30) {
            $0.polls[0].timing = .every(.seconds(900))
            $0.polls[0].splay = .seconds(900)
        } _: { crowd in
            // The first answers are still those of each account's first poll.
            for _ in 0..<90 { await crowd.round(after: .seconds(20)) }
            let before = crowd.requests
            for _ in 0..<45 { await crowd.round(after: .seconds(20)) }
            #expect((4...6).contains(crowd.requests - before))
        }
    }

    @Test func aFailureOfTheServerIsAskedForOnce() async throws {
        try await Crowd.with(.endorser) { crowd in
            let ids = crowd.publish([1])
            crowd.world.mock.setStickyFault(.status(500), at: .plansChanged)
            let before = crowd.requests
            await crowd.round()
            // One request with its two retries.
            #expect(crowd.requests == before + 3)
            // More than the circuit bears, if each counted.
            #expect(await crowd.metric("starwatch_poll_failure_total") > 5)
            #expect(await crowd.agent.runtime.account.gate.shownCircuit == .closed)
            crowd.world.mock.setStickyFault(nil, at: .plansChanged)
            for _ in 0..<3 { await crowd.round() }
            try #expect(crowd.announced(to: 0) == ids)
            try #expect(crowd.announced(to: 1) == ids)
        }
    }

    @Test func anUnreadableAnswerFailsOnlyItsRequest() async throws {
        try await Crowd.with(.endorser) { crowd in
            let ids = crowd.publish([1])
            crowd.world.mock.script(.malformedJSON, at: .plansChanged)
            let before = crowd.requests
            await crowd.round()
            #expect(crowd.requests == before + 13)
            #expect(await crowd.metric("starwatch_poll_failure_total") == 0)
            try #expect(crowd.announced(to: 1) == ids)
        }
    }

    @Test func aCycleByHandAsksAlone() async throws {
        try await Crowd.with(.endorser) { crowd in
            await crowd.round()
            let ids = crowd.publish([0])
            let before = crowd.requests
            var caller = Operator.program
            caller.account = Crowd.did(0)
            let report = try await crowd.agent.topics.perform(ControlAPI.runPoll, PollRun(World.starred), for: caller)
            #expect(report.new == 1)
            #expect(crowd.requests == before + 1)
            // The next answer is newer than what the account has seen.
            await crowd.round()
            #expect(crowd.requests == before + 2)
            try #expect(crowd.announced(to: 0) == ids)
        }
    }

    @Test func anAccountThatWasPausedForLongAsksAlone() async throws {
        try await Crowd.with(.endorser) { crowd in
            let removal = IdentityRemoval(did: Crowd.did(0).rawValue)
            _ = try await crowd.agent.perform(ControlAPI.pauseAccount, removal)
            let ids = crowd.publish([0])
            for _ in 0..<10 { await crowd.round() }
            _ = try await crowd.agent.perform(ControlAPI.resumeAccount, removal)
            crowd.world.mock.forgetRequests()
            await crowd.round()
            #expect(crowd.requests == 2)
            let bodies = crowd.world.mock.requests(to: .plansChanged).map { String(decoding: $0.body, as: UTF8.self) }
            // The request of all others has no larger range.
            let shared = try #require(bodies.first { body in crowd.plans.allSatisfy(body.contains) })
            let after = try #require(shared.split(separator: #""afterId":""#).last?.prefix(26)).description
            #expect(crowd.world.clock.now - (JWTID(after)?.timestamp ?? Timestamp(seconds: 0)) < .seconds(300))
            try #expect(crowd.announced(to: 0) == ids)
        }
    }

    @Test func aPageWithMoreChangesThanOneIsAskedForAlone() async throws {
        try await Crowd.with(.endorser, accounts: 6, plans: 120) { crowd in
            for index in 0..<6 { try await crowd.setStars(of: index, to: index < 5 ? [index] : Array(0..<120)) }
            await crowd.round()
            await crowd.round()
            let ids = crowd.publish(0..<120)
            await crowd.round()
            for index in 0..<5 { try #expect(crowd.announced(to: index).last == ids[index]) }
            try #expect(Set(crowd.announced(to: 5)).isSuperset(of: ids))
        }
    }

    @Test func anAnswerFitsOnlyWhoHasSeenWhatLiesBeforeItAndNothingAfterIt() throws {
        let plan = "https://endorser.ch/entity/1"
        var content = SharedAnswer(dialect: .endorser, after: .floor(.ulid, at: ManualClock.start), topics: [plan])
        let id = JWTID.floor(.ulid, at: ManualClock.start + .seconds(300))
        let item = #"{"plan":{"jwtId":"\#(id.rawValue)","handleId":"\#(plan)"}}"#
        let body = Array(#"{"data":[\#(item)],"hitLimit":false}"#.utf8)
        let isUsable = content.add(body)
        #expect(isUsable)
        // Ten minutes after the range begins.
        let headers = HTTPHeaders([("Date", "Thu, 01 Jan 2026 12:10:00 GMT")])
        let response = HTTPResponse(status: 200, headers: headers, body: body)
        let askedAt = ManualClock.start + .seconds(600)
        let decoder = PageDecoder(dialect: .endorser, validation: .lenient, quarantine: true)
        let page = try PageAnswer.read(response, askedAt: askedAt, by: decoder).get()
        let reply = SharedReply(content: content, first: .init(page: page, response: response), origins: [nil])
        func part(seenUntil seconds: Int, limit: Int = 50, plans: [String] = [plan]) -> SharedPart? {
            let wish = SharedWish(
                stream: StreamKey(account: Crowd.did(0), server: "s", poll: PollName(World.starred)!),
                topics: plans,
                dialect: .endorser,
                lowerEnd: nil,
                seenUntil: ManualClock.start + .seconds(seconds),
                limit: limit
            )
            return reply.part(of: plans, for: wish)
        }
        #expect(part(seenUntil: 600)?.body == body)
        #expect(part(seenUntil: 601) == nil)
        // A change becomes visible up to 30 s after the time of its identifier.
        #expect(part(seenUntil: 30) != nil)
        #expect(part(seenUntil: 29) == nil)
        #expect(part(seenUntil: 600, limit: 1) == nil)
        #expect(part(seenUntil: 600, plans: [plan, "https://endorser.ch/entity/2"]) == nil)
    }

    /// First polls ask alone, so a round becomes shorter when each account was polled.
    @Test func theReachableIntervalCountsSharedRequestsOnce() async throws {
        try await Crowd.with(.endorser) {
            $0.fleet.requestsPerSecond = 1
        } _: { crowd in
            func accounts() async throws -> AgentStatus.Accounts? {
                try await crowd.agent.perform(ControlAPI.status).accounts
            }
            #expect(try await accounts()?.roundRequests == 5)
            #expect(await crowd.metric("starwatch_fleet_reachable_interval_seconds") == 5)
            let additions = (12..<74).map { index in
                AccountAdditions.Entry(did: Crowd.did(index).rawValue, stars: [crowd.plans[index % 4]])
            }
            // 74 requests in a minute would be too many; 5 are not.
            let answer = try await crowd.agent.perform(ControlAPI.addAccounts, AccountAdditions(accounts: additions))
            #expect(answer.warning == nil)
            #expect(try await accounts()?.roundRequests == 67)
            await crowd.round(after: .seconds(300))
            // Waiting for the budget moves the clock, so that accounts are due again before others were polled.
            for _ in 0..<2 { await crowd.round() }
            let polled = try await accounts()
            #expect(polled?.roundRequests == 5)
            // An account without stars asks nothing.
            try await crowd.setStars(of: 20, to: [])
            await crowd.round()
            let rested = try await accounts()
            #expect(rested?.roundRequests == 5)
            #expect(rested?.savedRequests ?? 0 > 20)
        }
    }

    @Test func aPollThatIsOffIsInNoRound() async throws {
        try await Crowd.with(.endorser) {
            var off = $0.polls[0]
            (off.name, off.isEnabled) = (PollName("nightly")!, false)
            $0.polls.append(off)
        } _: { crowd in
            await crowd.round()
            let accounts = try await crowd.agent.perform(ControlAPI.status).accounts
            #expect(accounts?.roundRequests == 5)
        }
    }

    @Test func schedulesThatAskForTooMuchAreWarnedOf() async throws {
        try await Crowd.with(.endorser) {
            $0.fleet.sharedRequests = false
            $0.fleet.requestsPerSecond = 1
        } _: { crowd in
            let additions = (12..<112).map { index in
                AccountAdditions.Entry(did: Crowd.did(index).rawValue, stars: [crowd.plans[index % 4]])
            }
            let answer = try await crowd.agent.perform(ControlAPI.addAccounts, AccountAdditions(accounts: additions))
            #expect(answer.warning?.contains("1m52s") == true)
            #expect(try await crowd.agent.perform(ControlAPI.status).accounts?.sharedRequests == nil)
        }
    }

    @Test func twoThousandProjectsTakeThreeRequests() async throws {
        try await Crowd.with(.endorser, accounts: 60, plans: 2000) { crowd in
            for index in 0..<60 {
                try await crowd.setStars(of: index, to: (0..<34).map { (index * 34 + $0) % 2000 })
            }
            await crowd.round()
            let changed = Array(stride(from: 0, to: 2000, by: 50))
            let ids = crowd.publish(changed)
            let before = crowd.requests
            await crowd.round()
            #expect(crowd.requests == before + 3)
            for index in 0..<58 {
                let own = zip(changed, ids).filter { $0.0 / 34 == index }.map(\.1)
                try #expect(Set(crowd.announced(to: index)).isSuperset(of: own))
            }
        }
    }

    @Test func anAnswerWithoutADateServesNobody() async throws {
        try await Crowd.with(.endorser) { crowd in
            await crowd.round()
            crowd.world.mock.script(
                .raw(Array("HTTP/1.1 200 OK\r\nContent-Length: 28\r\n\r\n{\"data\":[],\"hitLimit\":false}".utf8)),
                at: .plansChanged
            )
            // Without a `Date` nobody knows when it was read, so each account asks alone.
            let ids = crowd.publish([0])
            let before = crowd.requests
            await crowd.round()
            #expect(crowd.requests == before + 13)
            try #expect(crowd.announced(to: 0) == ids)
        }
    }
}

/// An agent for many accounts, each of which stars two projects in turn.
struct Crowd {
    let world: World
    let agent: Agent
    /// The projects that are starred.
    let plans: [String]

    static func did(_ index: Int) -> DID {
        let digits = String(index + 1, radix: 16)
        return DID("did:ethr:0x" + String(repeating: "0", count: 40 - digits.count) + digits)!
    }

    /// Makes the accounts, and polls each of them once.
    static func with(
        _ dialect: MockDialect,
        accounts: Int = 12,
        plans count: Int = 4,
        faults: [MockEndpoint: MockFault] = [:],
        _ change: (inout AgentOptions) -> Void = { _ in },
        _ body: (Crowd) async throws -> Void
    ) async throws {
        try await World.with(dialect, plans: count, mock: { $0.requestsPerMinute = nil }) { world in
            for (endpoint, fault) in faults { world.mock.setStickyFault(fault, at: endpoint) }
            let agent = try await world.agentOfMany(change)
            let plans = Array(world.mock.planIDs.prefix(count))
            _ = try await agent.perform(
                ControlAPI.addAccounts,
                AccountAdditions(
                    accounts: (0..<accounts).map { index in
                        .init(did: did(index).rawValue, stars: [plans[index % count], plans[(index + 1) % count]])
                    }
                )
            )
            // So that the first poll finds a change.
            world.mock.publish(plans.map { MockChange(planID: $0) })
            world.clock.advance(by: .seconds(600))
            let crowd = Crowd(world: world, agent: agent, plans: plans)
            await crowd.round()
            try await body(crowd)
        }
    }

    var requests: Int { world.mock.requestCount(of: .plansChanged) }

    /// Visits every account that is due after some time.
    func round(after time: Duration = .seconds(61)) async { await agent.visitAll(after: time, on: world.clock) }

    /// Publishes a change of each of these projects.
    @discardableResult
    func publish(_ numbers: some Sequence<Int>) -> [String] {
        world.mock.publish(numbers.map { MockChange(planID: plans[$0]) })
    }

    func setStars(of index: Int, to numbers: [Int]) async throws {
        let stars = numbers.map { plans[$0] }
        let addition = AccountAdditions(accounts: [.init(did: Self.did(index).rawValue, stars: stars)])
        let answer = try await agent.perform(ControlAPI.addAccounts, addition)
        #expect(answer.accounts.map(\.problem) == [nil])
    }

    func announced(to index: Int) throws -> [String] {
        let name = agent.process.pseudonym.hash(Self.did(index))
        return try world.notifications.filter { $0.account == name }.flatMap { $0.changes.map(\.jwt_id) }
    }

    func metric(_ name: String) async -> Double {
        let page = await agent.page()
        return page.series(of: name).compactMap { page[$0.name, $0.labels] }.reduce(0, +)
    }
}
