import Foundation
import MockEndorser
import ProgramTestKit
import Testing

/// kill -9 at random moments of an agent that serves many accounts: each account hears once of each of its changes, at its own
/// address.
@Suite(.serialized) struct FleetKillTests {
    /// An account's notification of a change.
    private struct News: Hashable {
        let account: String
        let change: String
    }

    @Test func everyAccountHearsOnceOfItsChangesThoughTheAgentIsKilledAtRandomMoments() async throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        print("the seed of the kills is \(seed)")
        var random = Seeded(state: seed)
        let world = try await AgentWorld.ofAccounts(plans: 20, latency: .milliseconds(10), haveHooks: true)
        var accounts = world.accounts(50)
        for index in accounts.indices {
            accounts[index].sinks = ["hook": ["url": "\(world.mock.url)/hook?\(index)"]]
        }
        var agent = try await world.start()
        let added = try await world.command(["accounts", "add", "--stdin"], input: AgentWorld.lines(accounts))
        #expect(added.output == "Accounts: 50 added.\n" && added.status == 0, "\(added.errors)")
        let pseudonyms = try await pseudonyms(in: world)
        try #require(pseudonyms.count == 50)

        // In each life, two plans change for the last time, and two others that will change again. The server replaces a
        // change by the next one of its plan.
        let plans = world.mock.planIDs.shuffled(using: &random)
        var last: [String: String] = [:]
        var interrupted = 0
        for life in 0..<10 {
            await agent.killNow()
            interrupted += try Self.visits(in: world)
            try world.letTimePass()
            agent = try await world.start()
            let again = plans[(life * 2)...].shuffled(using: &random).prefix(2)
            for plan in again + plans[life * 2..<life * 2 + 2] {
                last[plan] = world.mock.publish([MockChange(planID: plan)])[0]
                await pause(milliseconds: Int.random(in: 0...150, using: &random))
            }
            await pause(milliseconds: Int.random(in: 0...400, using: &random))
        }
        await agent.killNow()
        interrupted += try Self.visits(in: world)
        // A machine can be so slow that each life ended before its first visit.
        for _ in 0..<100 where interrupted == 0 {
            try world.letTimePass()
            agent = try await world.start()
            _ = await eventually { (try? Self.visits(in: world)) ?? 0 > 0 ? true : nil }
            await agent.killNow()
            interrupted += try Self.visits(in: world)
        }
        #expect(interrupted > 0, "no kill came during a visit; seed \(seed)")

        // After the last kill nothing helps the agent: leases end by themselves.
        agent = try await world.start()
        let expected = Set(
            accounts.flatMap { account in
                account.stars.map { News(account: pseudonyms[account.did] ?? "", change: last[$0] ?? "") }
            }
        )
        #expect(expected.count == 100)
        let mock = world.mock
        let arrived = try await eventually {
            expected.isSubset(of: try Self.news(mock)) ? true : nil
        }
        let news = try Self.news(mock)
        #expect(arrived == true, "\(expected.subtracting(news).count) of 100 are missing; seed \(seed)")

        let strays = try mock.requests(to: .hook).filter { request in
            let index = try #require(request.query.flatMap { Int($0) })
            return try Self.account(in: request.body) != pseudonyms[accounts[index].did]
        }
        #expect(strays.isEmpty, "\(strays.count) notifications came to the address of another account; seed \(seed)")

        // No id with two contents, and no change in two notifications of an account.
        let oneContentEach = mock.receivedNotifications.allSatisfy(\.bodiesAgree)
        #expect(oneContentEach, "seed \(seed)")
        #expect(Set(news).count == news.count, "\(news.count - Set(news).count) changes came twice; seed \(seed)")
        #expect(await agent.stop() == 0)
        #expect(try Database.booksBalance(world.database))
        try await mock.stop()
    }

    /// The number of accounts that an agent visits, or was visiting when it died.
    private static func visits(in world: AgentWorld) throws -> Int {
        try Database.integer(world.database, "SELECT count(*) FROM leases WHERE owner IS NOT NULL")
    }

    /// All that the webhook received, each notification once.
    private static func news(_ mock: MockServer) throws -> [News] {
        try mock.receivedNotifications.flatMap { notification in
            let account = try account(in: notification.bodies[0])
            return notification.jwtIDs.map { News(account: account, change: $0) }
        }
    }

    private static func account(in body: Data) throws -> String {
        struct Body: Decodable { let account: String }
        return try JSONDecoder().decode(Body.self, from: body).account
    }

    private func pseudonyms(in world: AgentWorld) async throws -> [String: String] {
        struct Report: Decodable { let did, pseudonym: String }
        let listed = try await world.command(["accounts", "list", "--json"])
        let reports = try JSONDecoder().decode([Report].self, from: Data(listed.output.utf8))
        return Dictionary(uniqueKeysWithValues: reports.map { ($0.did, $0.pseudonym) })
    }
}

/// SplitMix64, so that a seed repeats a run.
private struct Seeded: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = (state ^ (state >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        return mixed ^ (mixed >> 31)
    }
}
