import Foundation
import MockEndorser
import ProgramTestKit
import Testing

/// kill -9 of an agent that serves many accounts, while their digests are armed and while the sink has them.
@Suite(.serialized) struct FleetDigestKillTests {
    @Test func eachAccountGetsItsDigestOnceThoughTheAgentIsKilled() async throws {
        let world = try await AgentWorld.ofAccounts()
        let (mock, accounts) = (world.mock, 20)
        mock.content = #"{"count": 3}"#
        let digests = """
            digests:
              daily:
                times: ["\(DigestTests.minutes().0)"]
                timezone: UTC
                fetch: {url: "\(mock.url)/content"}
                lead: 15s
                body: "{{count}} new"

            """
        try (String(contentsOfFile: world.config, encoding: .utf8) + "\n" + digests)
            .write(toFile: world.config, atomically: false, encoding: .utf8)
        var agent = try await world.start()
        let lines = try AgentWorld.lines(world.accounts(accounts))
        let added = try await world.command(["accounts", "add", "--stdin"], input: lines)
        #expect(added.status == 0, "\(added.errors)")
        await agent.killNow()
        try world.letTimePass()
        agent = try await world.start()
        let database = world.database
        let areArmed = await eventually {
            let armed = try? Database.integer(
                database,
                "SELECT count(*) FROM notif_deliveries WHERE text_kind IS NOT NULL"
            )
            return armed ?? 0 >= accounts ? true : nil
        }
        #expect(areArmed == true)
        await agent.killNow()

        mock.setStickyFault(.neverAnswer, at: .hook)
        try world.letTimePass()
        agent = try await world.start()
        let hasBegun = await eventually { mock.requestCount(of: .hook) >= 1 ? true : nil }
        #expect(hasBegun == true)
        await agent.killNow()
        mock.clearFaults()
        try world.letTimePass()
        agent = try await world.start()
        let haveCome = await eventually { mock.receivedNotifications.count >= accounts ? true : nil }
        #expect(haveCome == true)
        let areShown = await eventually {
            (try? Database.integer(database, "SELECT count(*) FROM notif_deliveries WHERE status = 'shown'"))
                == accounts ? true : nil
        }
        #expect(areShown == true)

        struct Body: Decodable { let account, body: String }
        let notifications = mock.receivedNotifications
        let bodies = try notifications.map { try JSONDecoder().decode(Body.self, from: $0.bodies[0]) }
        #expect(notifications.count == accounts && Set(bodies.map(\.account)).count == accounts)
        let areWhole = notifications.allSatisfy(\.bodiesAgree) && bodies.allSatisfy { $0.body.hasPrefix("3 new") }
        #expect(areWhole)
        #expect(await agent.stop() == 0)
        #expect(try Database.booksBalance(database))
        try await mock.stop()
    }
}
