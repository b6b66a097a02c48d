import Foundation
import MockEndorser
import Testing

/// Mails to many accounts, each at its own address, over kills of the agent.
@Suite(.serialized, .timeLimit(.minutes(60))) struct MailFleetTests {
    /// Number of accounts. `STARWATCH_MAIL_ACCOUNTS=1000` sends 10,000 mails.
    private static let accounts =
        ProcessInfo.processInfo.environment["STARWATCH_MAIL_ACCOUNTS"].flatMap { Int($0) } ?? 20
    private static let lives = 10

    @Test func everyAccountGetsEachOfItsMailsOnceByItsIdThoughTheAgentIsKilled() async throws {
        let workspace = try Workspace()
        let server = try await MailServer(in: workspace)
        let world = try await AgentWorld.ofAccounts(plans: 2)
        try world.write {
            $0.sinks = #"    - {name: mail, kind: email, url: "\#(server.url)", from: agent@example.org}"#
        }
        var accounts = world.accounts(Self.accounts)
        for index in accounts.indices { accounts[index].sinks = ["mail": ["to": "reader\(index)@example.org"]] }
        var agent = try await world.start()
        let added = try await world.command(["accounts", "add", "--stdin"], input: AgentWorld.lines(accounts))
        #expect(added.status == 0, "\(added.output)\(added.errors)")
        let started = ContinuousClock.now
        for life in 1...Self.lives {
            // Every account has starred both plans; a kill comes while mails of this change are under way.
            world.mock.publish([MockChange(planID: world.mock.planIDs[life % 2])])
            await agent.killNow()
            try world.letTimePass()
            agent = try await world.start()
            let (before, wanted) = ((life - 1) * Self.accounts, life * Self.accounts)
            _ = await eventually { server.count > before + Self.accounts / 3 ? true : nil }
            await agent.killNow()
            try world.letTimePass()
            agent = try await world.start()
            let delivered = await eventually(within: .seconds(300)) { server.count >= wanted ? true : nil }
            #expect(delivered == true, "life \(life): \(server.count) of \(wanted)\n\(agent.logText.suffix(1000))")
        }
        let total = Self.accounts * Self.lives
        let pending = await eventually {
            (try? Database.integer(world.database, "SELECT count(*) FROM deliveries WHERE state = 'pending'")) == 0
                ? true : nil
        }
        #expect(pending == true)
        #expect(await agent.stop() == 0)
        let mails = try await server.mails()
        let ids = Dictionary(grouping: mails, by: \.id)
        print(
            "\(ids.count) notifications, \(mails.count) mails, \(Self.lives * 2) kills, \(ContinuousClock.now - started)"
        )
        #expect(ids.count == total)
        // A mail that came again is the same one, for the same reader.
        #expect(ids.values.allSatisfy { Set($0.map { $0.text + $0.date + $0.receivers.joined() }).count == 1 })
        let readers = Dictionary(grouping: ids.values.map { $0[0].receivers }, by: { $0 })
        #expect(readers.count == Self.accounts && readers.values.allSatisfy { $0.count == Self.lives })
        #expect(try Database.booksBalance(world.database))
        try await world.mock.stop()
    }
}
