import Foundation
import MockEndorser
import StarwatchCore
import StarwatchTransport
import Synchronization
import Testing

@testable import Starwatch
@testable import StarwatchPolling
@testable import StarwatchStore

/// An agent that works for many accounts, on one database.
@Suite(.timeLimit(.minutes(5))) struct FleetTests {
    private static let first = TestAccount.ethr
    private static let second = TestAccount.other

    /// Makes an agent for two accounts. The first one stars the first plan of the server, the second one the next two.
    private static func withTwo(
        dependencies: AgentDependencies = AgentDependencies(),
        _ change: (inout AgentOptions) -> Void = { _ in },
        _ body: (World, Agent) async throws -> Void
    ) async throws {
        try await World.with(.endorser) { world in
            let agent = try await world.agentOfMany(dependencies: dependencies) { options in
                options.fleet.requestsPerSecond = 1000
                options.log.level = .info
                change(&options)
            }
            let plans = world.mock.planIDs
            let added = try await agent.perform(
                ControlAPI.addAccounts,
                AccountAdditions(accounts: [
                    .init(did: first.rawValue, stars: [plans[0]]),
                    .init(did: second.rawValue, stars: [plans[1], plans[2]]),
                ])
            )
            #expect(added.accounts.map(\.result) == ["added", "added"])
            try await body(world, agent)
        }
    }

    /// Publishes a change of each of the first three plans.
    private static func publish(in world: World) -> [String] {
        world.mock.publish(world.mock.planIDs.prefix(3).map { MockChange(planID: $0) })
    }

    private static func announced(to account: DID, in world: World, by agent: Agent) throws -> [String] {
        let name = agent.process.pseudonym.hash(account)
        return try world.notifications.filter { $0.account == name }.flatMap { $0.changes.map(\.jwt_id) }
    }

    @Test func eachAccountHearsOnceOfItsOwnProjects() async throws {
        try await Self.withTwo { world, agent in
            await agent.visitAll(after: .seconds(60), on: world.clock)
            let ids = Self.publish(in: world)
            await agent.visitAll(after: .seconds(61), on: world.clock)
            await agent.visitAll(after: .seconds(61), on: world.clock)
            try #expect(Self.announced(to: Self.first, in: world, by: agent) == [ids[0]])
            try #expect(Self.announced(to: Self.second, in: world, by: agent).sorted() == [ids[1], ids[2]].sorted())
            try #expect(world.announced.count == 3)
            #expect(try await agent.rows([.acknowledged]).count == 3)
        }
    }

    @Test func oneAccountGetsTheCanary() async throws {
        let change = { (options: inout AgentOptions) in
            options.canary = CanaryOptions()
            options.canary?.account = Self.second
            for index in options.delivery.sinks.indices { options.delivery.sinks[index]["canary"] = true }
        }
        try await Self.withTwo(change) { world, agent in
            for _ in 1...3 { await agent.visitAll(after: .seconds(61), on: world.clock) }
            let page = await agent.page()
            #expect(page["starwatch_canaries_total", ["step": "sent"]] == 1)
            #expect(page["starwatch_canaries_total", ["step": "arrived"]] == 1)
            let status = try await agent.perform(ControlAPI.status)
            #expect(status.canary?.lastArrival != nil)
            world.clock.advance(by: .seconds(3600))
            for _ in 1...2 { await agent.visitAll(after: .seconds(61), on: world.clock) }
            #expect(await agent.page()["starwatch_canaries_total", ["step": "sent"]] == 2)
            #expect(agent.canaryFacts?.missingSince(now: world.clock.now) == nil)
        }
    }

    @Test func anAccountRestsUntilItsScheduleIsDue() async throws {
        try await Self.withTwo { world, agent in
            await agent.visitAll(after: .seconds(60), on: world.clock)
            let requests = world.mock.requestCount(of: .plansChanged)
            #expect(await agent.visitAll(after: .seconds(30), on: world.clock) == 0)
            #expect(world.mock.requestCount(of: .plansChanged) == requests)
            #expect(await agent.visitAll(after: .seconds(31), on: world.clock) == 2)
            #expect(world.mock.requestCount(of: .plansChanged) == requests + 2)
        }
    }

    /// Otherwise a poll would cost several times that of one account.
    @Test func visitsWithoutNewsReadAndWriteTogether() async throws {
        let accesses = StoreAccesses()
        try await Self.withTwo(dependencies: accesses.dependencies) { world, agent in
            await agent.visitAll(after: .seconds(60), on: world.clock)
            // The first cycle found where it begins.
            await agent.visitAll(after: .seconds(61), on: world.clock)
            let before = try await agent.store.accounts.list(after: nil, limit: 9).map(\.lastSuccess)
            accesses.clear()
            #expect(await agent.visitAll(after: .seconds(61), on: world.clock) == 2)
            // A claim, and the release of all together with the next claim.
            let others = accesses.all.filter { $0 != .finishCycle }
            #expect(others == [.lease, .lease])
            // If the machine takes longer than a second for that, the late writes are stored before, together.
            #expect(accesses.all.count <= others.count + 1)
            let after = try await agent.store.accounts.list(after: nil, limit: 9).map(\.lastSuccess)
            #expect(after == [world.clock.now, world.clock.now] && after != before)
        }
    }

    @Test func aPausedAccountIsNotVisitedAndMissesNothing() async throws {
        try await Self.withTwo { world, agent in
            await agent.visitAll(after: .seconds(60), on: world.clock)
            let pause = IdentityRemoval(did: Self.first.rawValue)
            #expect(try await agent.perform(ControlAPI.pauseAccount, pause).status == "paused")
            let ids = Self.publish(in: world)
            await agent.visitAll(after: .seconds(61), on: world.clock)
            try #expect(Self.announced(to: Self.first, in: world, by: agent).isEmpty)
            #expect(try await agent.perform(ControlAPI.resumeAccount, pause).status == "active")
            await agent.visitAll(after: .seconds(61), on: world.clock)
            try #expect(Self.announced(to: Self.first, in: world, by: agent) == [ids[0]])
        }
    }

    @Test func twoAccountsOfOneServerShareItsWait() async throws {
        try await Self.withTwo { world, agent in
            await agent.visitAll(after: .seconds(60), on: world.clock)
            world.mock.script(.rateLimited(retryAfter: .seconds(3600)), at: .plansChanged)
            let before = world.mock.requestCount(of: .plansChanged)
            await agent.visitAll(after: .seconds(61), on: world.clock)
            // The other account asks nothing while the server wants to wait.
            #expect(world.mock.requestCount(of: .plansChanged) == before + 1)
            #expect(await agent.runtime.account.gate.hold(now: world.clock.now) != nil)
        }
    }

    @Test func aFailedPollIsRetriedBeforeItsSchedule() async throws {
        try await Self.withTwo { options in
            options.polls[0].timing = .every(.seconds(7200))
        } _: { world, agent in
            await agent.visitAll(after: .seconds(60), on: world.clock)
            let ids = Self.publish(in: world)
            for _ in 0..<6 { world.mock.script(.status(500), at: .plansChanged) }
            await agent.visitAll(after: .seconds(7201), on: world.clock)
            await agent.visitAll(after: .seconds(300), on: world.clock)
            let announced = try world.announced
            #expect(announced.sorted() == ids.sorted())
        }
    }

    @Test func allAccountsTogetherKeepTheLimitOfRequests() async throws {
        try await Self.withTwo { options in
            options.fleet.requestsPerSecond = 1
        } _: { world, agent in
            await agent.visitAll(after: .seconds(60), on: world.clock)
            let began = world.clock.now
            await agent.visitAll(after: .seconds(61), on: world.clock)
            // The second request waits until the first one is a second old.
            #expect(world.clock.now - began >= .seconds(62))
        }
    }

    @Test func aClockThatIsSetBackKeepsNobodyWaiting() async throws {
        try await Self.withTwo { world, agent in
            await agent.visitAll(after: .seconds(60), on: world.clock)
            world.clock.setWall(to: world.clock.now - .seconds(7200))
            #expect(await agent.visitAll(after: .seconds(61), on: world.clock) == 2)
        }
    }

    @Test func aClockThatIsSetBackAfterAVisitKeepsNobodyWaiting() async throws {
        try await Self.withTwo { world, agent in
            world.clock.advance(by: .seconds(60))
            let service = try #require(agent.fleet)
            for lease in await service.claim() { await service.visit(lease) }
            // The ends of the visits are not stored yet.
            world.clock.setWall(to: world.clock.now - .seconds(7200))
            #expect(await agent.visitAll(after: .seconds(61), on: world.clock) == 2)
        }
    }

    @Test func visitsThatEndWhileLeasesAreRenewedAreNotLost() async throws {
        try await Self.withTwo { world, agent in
            await agent.visitAll(after: .seconds(60), on: world.clock)
            await agent.visitAll(after: .seconds(61), on: world.clock)
            #expect(await agent.page()["starwatch_fleet_leases_lost_total"] == 0)
            #expect(await agent.page()["starwatch_fleet_lease_claims_total", ["result": "released"]] == 4)
        }
    }

    @Test func aVerbThatNamesAnAccountWorksForIt() async throws {
        try await Self.withTwo { world, agent in
            var caller = Operator.program
            caller.account = Self.second
            let stars = try await agent.topics.perform(ControlAPI.listStars, (), for: caller)
            #expect(stars.planIDs == [world.mock.planIDs[1], world.mock.planIDs[2]])
            let change = StarsChange(operation: .add, planIDs: [world.mock.planIDs[3]])
            _ = try await agent.topics.perform(ControlAPI.changeStars, change, for: caller)
            #expect(try await agent.store.stars.list(of: Self.second).count == 3)
            #expect(try await agent.store.stars.list(of: Self.first).count == 1)
            // The change makes the account due at once.
            #expect(try await agent.store.accounts.account(Self.second)?.dueAt == world.clock.now)
            await #expect(throws: ControlError.self) { try await agent.perform(ControlAPI.listStars) }
        }
    }

    @Test func aRemovedAccountIsNoLongerServed() async throws {
        try await Self.withTwo { world, agent in
            await agent.visitAll(after: .seconds(60), on: world.clock)
            _ = Self.publish(in: world)
            let removal = IdentityRemoval(did: Self.second.rawValue)
            _ = try await agent.perform(ControlAPI.removeAccount, removal)
            await agent.visitAll(after: .seconds(61), on: world.clock)
            try #expect(world.announced.count == 1)
            #expect(
                try await agent.perform(ControlAPI.listAccounts, AccountQuery()).accounts.map(\.did) == [
                    Self.first.rawValue
                ]
            )
            let failure = await #expect(throws: ControlError.self) {
                try await agent.perform(ControlAPI.showAccount, removal)
            }
            #expect(failure?.kind == .notFound)
        }
    }

    @Test func aVerbOfOneAccountLeavesTheRowsOfOthers() async throws {
        try await Self.withTwo { options in
            let hook = SinkOptions.Kind.webhook(
                url: options.server.url + "/hook",
                secretFile: nil,
                timeout: .seconds(60)
            )
            options.delivery.sinks = [SinkOptions(name: "hook", kind: hook)]
            options.outbox.maxRetries = 1
        } _: { world, agent in
            await agent.visitAll(after: .seconds(60), on: world.clock)
            for _ in 0..<3 { world.mock.script(.status(400), at: .hook) }
            _ = Self.publish(in: world)
            await agent.visitAll(after: .seconds(61), on: world.clock)
            #expect(try await agent.rows([.dead]).count == 3)
            var caller = Operator.program
            caller.account = Self.first
            let all = DiscardSelection(RowSelection(allOf: nil))
            await #expect(throws: ControlError.self) { try await agent.perform(ControlAPI.discardOutbox, all) }
            let listed = try await agent.topics.perform(ControlAPI.listOutbox, OutboxQuery(), for: caller)
            #expect(listed.entries.count == 1)
            #expect(try await agent.topics.perform(ControlAPI.discardOutbox, all, for: caller).changed == 1)
            #expect(try await agent.rows([.dead]).count == 2)
        }
    }

    @Test func noIdentityCanBeMadeActive() async throws {
        try await Self.withTwo { _, agent in
            let failure = await #expect(throws: ControlError.self) { try await agent.setIdentity(Self.first) }
            #expect(failure?.message.contains("starwatch accounts") == true)
            let counts = try await agent.store.accounts.counts(now: Timestamp(seconds: 0))
            #expect(counts.active == 2)
        }
    }

    @Test func theDatabaseOfOnePersonBecomesOneOfMany() async throws {
        try await World.with(.endorser) { world in
            let key = try world.folder.write(Data(repeating: 7, count: 32).base64EncodedString(), to: "key")
            let one = try await world.agent {
                $0.security.masterKeyFile = key
                $0.delivery.sinks = [SinkOptions(name: "file", kind: .file(path: world.folder.path("sink.jsonl")))]
            }
            _ = await one.cycle()
            let ids = world.mock.publish(count: 2)
            let many = try await world.agent {
                $0.accounts = .many
                $0.initialIdentity = nil
                $0.polls[0].planIDs = []
                $0.security.masterKeyFile = key
            }
            await many.visitAll(after: .seconds(3600), on: world.clock)
            try #expect(world.announced.sorted() == ids.sorted())
            #expect(try await many.perform(ControlAPI.status).accounts?.active == 1)
        }
    }

    @Test func anAccountThatFailsDoesNotTakeTheTimeOfOthers() async throws {
        try await Self.withTwo { options in
            options.polls[0].timing = .every(.seconds(7200))
        } _: { world, agent in
            world.mock.setStickyFault(.authenticationFailure, at: .plansChanged)
            await agent.visitAll(after: .seconds(60), on: world.clock)
            #expect(await agent.visitAll(after: .seconds(10), on: world.clock) == 0)
            world.clock.advance(by: .seconds(40_000))
            let status = try await agent.perform(ControlAPI.status)
            #expect(status.accounts?.stale == 2)
            #expect(status.reasons.contains("accounts_late"))
        }
    }

    @Test func aClockThatWasAheadBeforeTheStartKeepsNobodyWaiting() async throws {
        try await Self.withTwo { world, agent in
            world.clock.advance(by: .seconds(60))
            let lease = try #require(await agent.fleet?.claim().first ?? nil)
            let asked = CycleTimes(attempted: world.clock.now)
            let end = LeaseEnd(lease, next: world.clock.now + .days(365), asked: asked)
            _ = try await agent.store.accounts.release([end])
            let again = try await world.agent { $0 = agent.options }
            #expect(await again.visitAll(after: .seconds(60), on: world.clock) == 2)
        }
    }

    @Test func aVisitThatOutlivesItsLeaseIsNotClaimedAgain() async throws {
        try await Self.withTwo { world, agent in
            world.clock.advance(by: .seconds(60))
            let service = try #require(agent.fleet)
            let leases = await service.claim()
            #expect(leases.count == 2)
            world.clock.advance(by: .seconds(3600))
            #expect(await service.claim().isEmpty)
            for lease in leases { await service.visit(lease) }
            #expect(await agent.visitAll(after: .seconds(61), on: world.clock) == 2)
            #expect(await agent.page()["starwatch_fleet_leases_lost_total"] == 0)
        }
    }

    @Test func mistakesInAnAdditionAreNamedAndTheOthersAreAdded() async throws {
        try await Self.withTwo { world, agent in
            let plan = world.mock.planIDs[0]
            let answer = try await agent.perform(
                ControlAPI.addAccounts,
                AccountAdditions(accounts: [
                    .init(did: "foo"),
                    .init(did: "did:ethr:0x0000000000000000000000000000000000000001", stars: ["no plan"]),
                    .init(did: "did:ethr:0x0000000000000000000000000000000000000002", stars: [plan]),
                    .init(did: "did:ethr:0x0000000000000000000000000000000000000002", stars: [plan]),
                    .init(did: Self.first.rawValue, stars: [plan]), .init(did: Self.second.rawValue, stars: [plan]),
                ])
            )
            #expect(
                answer.accounts.map(\.result) == ["refused", "refused", "added", "refused", "unchanged", "changed"]
            )
            #expect(answer.accounts.map { $0.problem != nil } == [true, true, false, true, false, false])
            #expect(try await agent.perform(ControlAPI.status).accounts?.active == 3)
        }
    }

    /// To the method the case of the digits has no meaning. One person would be told everything twice.
    @Test func anotherSpellingOfAnAddressIsRefused() async throws {
        try await Self.withTwo { world, agent in
            let spellings = [
                "0xabcdef" + String(repeating: "0", count: 33) + "1",
                "0xABCDEF" + String(repeating: "0", count: 33) + "1",
            ]
            func add(_ spellings: [String]) async throws -> [String] {
                let entries = spellings.map {
                    AccountAdditions.Entry(did: "did:ethr:" + $0, stars: [world.mock.planIDs[0]])
                }
                return try await agent.perform(ControlAPI.addAccounts, AccountAdditions(accounts: entries)).accounts
                    .map(\.result)
            }
            try #expect(await add(spellings) == ["added", "refused"])
            try #expect(await add([spellings[1]]) == ["refused"])
            try #expect(await add([spellings[0]]) == ["unchanged"])
            // Of EIP-55: one that is right, and one with a wrong character.
            let checksummed = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed"
            try #expect(await add([checksummed, checksummed.replacing("e", with: "E")]) == ["added", "refused"])
            try #expect(await add(["0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAee"]) == ["refused"])
        }
    }

    @Test func anAgentForOneIdentityRefusesToServeMany() async throws {
        try await World.with(.endorser) { world in
            let agent = try await world.agent()
            let failure = await #expect(throws: ControlError.self) {
                try await agent.perform(ControlAPI.listAccounts, AccountQuery())
            }
            #expect(failure?.kind == .conflict)
        }
    }

    @Test func aDatabaseThatFailsStopsNoVisitForLong() async throws {
        let fault = StoreFault()
        try await Self.withTwo(dependencies: fault.dependencies) { world, agent in
            fault.fail(.lease)
            #expect(await agent.visitAll(after: .seconds(60), on: world.clock) == 0)
            #expect(world.log.lines.contains { $0.contains("fleet.store_failed") })
            #expect(agent.store.health.fault != nil)
            fault.fail()
            #expect(await agent.visitAll(after: .seconds(60), on: world.clock) == 2)
        }
    }

    @Test func accountsThatWaitTooLongAreAProblem() async throws {
        try await Self.withTwo { world, agent in
            world.clock.advance(by: .seconds(200))
            #expect(try await agent.perform(ControlAPI.status).reasons.isEmpty)
            world.clock.advance(by: .seconds(200))
            let status = try await agent.perform(ControlAPI.status)
            #expect(status.reasons == ["accounts_late"])
            #expect(status.accounts?.due == 2)
            #expect(await agent.page()["starwatch_fleet_due_accounts"] == 2)
            await agent.visitAll(after: .zero, on: world.clock)
            #expect(try await agent.perform(ControlAPI.status).reasons.isEmpty)
        }
    }

    @Test func theStatusIsThatOfAllAccountsTogether() async throws {
        try await Self.withTwo { options in
            options.outbox.maxUndelivered = 10
        } _: { world, agent in
            let new = try await agent.perform(ControlAPI.status)
            #expect(new.polls.values.allSatisfy { $0.lastSuccess == nil && $0.lastAttempt == nil })
            await agent.visitAll(after: .seconds(60), on: world.clock)
            let status = try await agent.perform(ControlAPI.status)
            #expect(status.polls.count == 1)
            #expect(status.polls.values.allSatisfy { $0.lastSuccess == world.clock.now.iso8601 })
            #expect(status.polls.values.allSatisfy { $0.lastAttempt != nil })
            // Each account has room for 10 changes.
            #expect(status.outbox.capacity == 20)
            #expect(await agent.page()["starwatch_outbox_capacity_rows"] == 20)
        }
    }

    @Test func theServiceReleasesItsAccountsWhenItEnds() async throws {
        try await Self.withTwo { world, agent in
            world.clock.setMode(.waiting)
            world.clock.advance(by: .seconds(60))
            let service = try #require(agent.fleet)
            let task = Task { try await service.run() }
            // It rests when both accounts were visited.
            while try await agent.store.accounts.counts(now: world.clock.now).due > 0 { await Task.yield() }
            task.cancel()
            try await task.value
            let accounts = try await agent.store.accounts.list(after: nil, limit: 10)
            #expect(accounts.map(\.isLeased) == [false, false])
        }
    }

    /// Weak references to the memory of accounts, to see whether anybody keeps it.
    private final class Traces: Sendable {
        private struct Trace {
            weak var runtime: AccountRuntime?
            weak var requests: AccountRequests?
        }

        private let traces = Mutex<[Trace]>([])

        func note(_ runtime: AccountRuntime?, _ sender: Sender? = nil) {
            traces.withLock { $0.append(Trace(runtime: runtime, requests: sender?.requests)) }
        }

        var count: Int { traces.withLock(\.count) }
        var areGone: Bool { traces.withLock { $0.allSatisfy { $0.runtime == nil && $0.requests == nil } } }
    }

    /// The runtime has all that an account has in memory above the store: polls, requests, tokens.
    @Test func anAccountLeavesNothingInMemoryAfterItsRelease() async throws {
        try await Self.withTwo { world, agent in
            let (service, gate, traces) = (try #require(agent.fleet), agent.runtime.account.gate, Traces())
            world.clock.advance(by: .seconds(61))
            let leases = await service.claim()
            #expect(leases.count == 2)
            for lease in leases {
                let sender = await gate.enter(lease.account)
                traces.note(nil, sender)
                await service.visit(lease) { traces.note(service.residents.runtime(of: lease.account)) }
                await gate.leave(sender, now: world.clock.now)
            }
            #expect(traces.count == 4)
            // The next claim releases them.
            await agent.visitAll(after: .zero, on: world.clock)
            // An operator's work, without a lease.
            var caller = Operator.program
            caller.account = Self.first
            _ = try await agent.topics.perform(ControlAPI.runPoll, PollRun(World.starred), for: caller)
            for _ in 0..<10_000 where !traces.areGone { await Task.yield() }
            #expect(traces.areGone)
            for account in [Self.first, Self.second] {
                #expect(service.residents.runtime(of: account) == nil)
                #expect(agent.store.memory.accounts.look(at: account, \.isEmpty))
            }
        }
    }
}
