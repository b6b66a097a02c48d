import Foundation
import MockEndorser
import ProgramTestKit
import Synchronization
import Testing

/// An account moves from an agent of its own to one with many accounts, and back, while its projects change.
@Suite(.serialized) struct AccountMoveTests {
    private static let did = AgentWorld.did(1)

    let fleet: AgentWorld
    /// The agent for one account, with a master key of its own.
    let one: AgentWorld

    init() async throws {
        // Each plan changes once, because the server replaces a change by the next one of its plan.
        let fleet = try await AgentWorld.ofAccounts(plans: 1000, latency: .milliseconds(100))
        self.fleet = fleet
        one = try await AgentWorld(mock: fleet.mock) { _ in
        } configure: { configuration, workspace in
            configuration.did = Self.did
            configuration.sinks = TestConfiguration.webhook(fleet.mock.url)
            configuration.groupInterval = "0s"
            configuration.isEncrypted = true
            try workspace.writeMasterKey()
        }
    }

    /// Changes projects in the background, each once. After the first hundred it takes its time, so that there are changes
    /// left however long a step of a test takes.
    private final class Changes: Sendable {
        private let ids = Mutex<[String]>([])
        private let isOver = Mutex(false)

        init(_ mock: MockServer) {
            Task {
                for plan in mock.planIDs where !isOver.withLock({ $0 }) {
                    let id = mock.publish([MockChange(planID: plan)])[0]
                    ids.withLock { $0.append(id) }
                    await pause(milliseconds: count < 100 ? 40 : 1000)
                }
            }
        }

        var count: Int { ids.withLock { $0.count } }

        /// - Returns: All changes.
        func end() -> [String] {
            isOver.withLock { $0 = true }
            return ids.withLock { $0 }
        }
    }

    private var announced: [String] { fleet.mock.receivedNotifications.flatMap(\.jwtIDs) }

    /// The notifications of the agent with many accounts, which name the account.
    private var announcedByFleet: Int {
        fleet.mock.receivedNotifications.count {
            String(decoding: $0.bodies[0], as: UTF8.self).contains(#""account":"#)
        }
    }

    /// The number of notifications that the webhook got again.
    private var sentTwice: Int { fleet.mock.receivedNotifications.count { $0.bodies.count > 1 } }

    /// Waits longer than the lease of an agent that was killed.
    private func waitForNews(after count: Int, _ news: @Sendable @escaping () -> Int) async throws {
        try #require(await eventually { news() > count ? true : nil } == true)
    }

    private func expectEachOnce(_ ids: [String]) async throws {
        let arrived = await eventually { Set(ids).isSubset(of: announced) ? true : nil }
        let found = announced
        #expect(arrived == true, "\(Set(ids).subtracting(found).count) of \(ids.count) changes are missing")
        #expect(found.count == Set(found).count, "\(found.count - Set(found).count) changes came twice")
        let agree = fleet.mock.receivedNotifications.allSatisfy(\.bodiesAgree)
        #expect(agree)
    }

    private func ofOne(_ arguments: String...) async throws -> CommandResult {
        try await starwatch(arguments + ["--config", one.config])
    }

    @Test func eachChangeIsAnnouncedOnceWhileTheAccountMovesThereAndBack() async throws {
        let single = try await one.start()
        let many = try await fleet.start()
        let changes = Changes(fleet.mock)
        try await waitForNews(after: 20) { announced.count }

        let imported = try await fleet.command(["accounts", "import", "--from", one.database])
        #expect(imported.status == 0 && imported.errors == "", "\(imported.errors)")
        #expect(imported.output.hasPrefix("This agent serves the account now, as did:hash:"))
        try await waitForNews(after: 5) { announcedByFleet }
        let again = try await fleet.command(["accounts", "import", "--from", one.database])
        #expect(again.status == 0, "\(again.errors)")
        #expect(again.output == "The account came with this file before; nothing was changed.\n")

        let file = fleet.workspace.path("account.json")
        let exported = try await fleet.command(["accounts", "export", Self.did, "--to", file])
        #expect(exported.status == 0, "\(exported.errors)")
        #expect(try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? Int == 0o600)
        let moved = (fromFleet: announcedByFleet, all: announced.count)
        let back = try await ofOne("accounts", "import", file)
        #expect(back.status == 0 && back.errors == "", "\(back.errors)")
        try await waitForNews(after: moved.all + 25) { announced.count }
        // Nothing of the account is left where it was.
        #expect(announcedByFleet - moved.fromFleet <= 1)

        try await expectEachOnce(changes.end())
        #expect(changes.count > 50)
        // No notification was on its way from one agent when the other one sent it.
        #expect(sentTwice == 0)
        #expect(await single.stop() == 0)
        #expect(await many.stop() == 0)
        for database in [one.database, fleet.database] { #expect(try Database.booksBalance(database)) }
        try await fleet.mock.stop()
    }

    @Test func aNotificationThatASinkHasIsNotSentByTheOtherAgentToo() async throws {
        let single = try await one.start()
        let many = try await fleet.start()
        fleet.mock.script(.delay(.seconds(4)), at: .hook)
        let plans = fleet.mock.planIDs
        let first = fleet.mock.publish([MockChange(planID: plans[0])])
        try await waitForNews(after: 0) { announced.count }
        let imported = try await fleet.command(["accounts", "import", "--from", one.database])
        #expect(imported.status == 0, "\(imported.errors)")
        let second = fleet.mock.publish([MockChange(planID: plans[1])])
        try await expectEachOnce(first + second)
        #expect(sentTwice == 0)
        #expect(await single.stop() == 0)
        #expect(await many.stop() == 0)
        try await fleet.mock.stop()
    }

    @Test func nothingIsLostIfBothAgentsAreKilledBetweenTheTwoSteps() async throws {
        var single = try await one.start()
        let changes = Changes(fleet.mock)
        try await waitForNews(after: 20) { announced.count }
        let file = one.workspace.path("account.json")
        let exported = try await ofOne("accounts", "export", Self.did, "--to", file)
        #expect(exported.status == 0, "\(exported.errors)")
        await single.killNow()
        // As if the file were lost too.
        try FileManager.default.removeItem(atPath: file)

        var many = try await fleet.start()
        let withoutKey = try await fleet.command(["accounts", "import", "--from", one.database])
        #expect(withoutKey.status == 1)
        #expect(withoutKey.errors.hasSuffix("is encrypted; name the file of its master key with --from-key.\n"))
        let key = one.workspace.path("master.key")
        let imported = try await fleet.command(["accounts", "import", "--from", one.database, "--from-key", key])
        #expect(imported.status == 0, "\(imported.errors)")
        await many.killNow()
        many = try await fleet.start()
        try await waitForNews(after: 5) { announcedByFleet }

        // The source does not begin again, whatever its configuration says.
        single = try await one.start()
        let refused = try await ofOne("identity", "set", Self.did)
        #expect(refused.status == 1)
        #expect(refused.errors.hasPrefix("starwatch: This account moved to another agent at "))
        #expect(try Database.integer(one.database, "SELECT count(*) FROM active_identity WHERE activeDid IS NULL") == 1)
        try await expectEachOnce(changes.end())
        #expect(await single.stop() == 0)
        #expect(await many.stop() == 0)
        try await fleet.mock.stop()
    }

    @Test func whatCannotMoveIsSaidBeforeAnythingIsChanged() async throws {
        let single = try await one.start()
        let many = try await fleet.start()
        _ = fleet.mock.publish([MockChange(planID: fleet.mock.planIDs[0])])
        try await waitForNews(after: 0) { announced.count }
        let from = ["accounts", "import", "--from", one.database]

        #expect(try await fleet.command(["accounts", "add", Self.did]).status == 0)
        let served = try await fleet.command(from)
        #expect(served.status == 1)
        #expect(served.output == "The account was not imported; nothing was changed here.\n")
        #expect(
            served.errors == "starwatch: This agent serves the account already; export or remove it here first.\n"
        )
        #expect(try await ofOne("identity", "show").output.contains(Self.did))
        #expect(try await fleet.command(["accounts", "erase", Self.did]).status == 0)

        let cases: [([String], Int32, String)] = [
            (["accounts", "import"], 2, "Give either a file or --from."),
            (["accounts", "import", "x", "--from", "y"], 2, "Give either a file or --from."),
            (["accounts", "import", "--from", "y", "--undo"], 2, "--undo belongs to a file."),
            (["accounts", "import", "x", "--from-key", "y"], 2, "--from-key belongs to --from."),
            (
                ["accounts", "import", "x", "--without-lost-values"], 2,
                "--without-lost-values belongs to --from."
            ),
            (["accounts", "import", "/nowhere"], 1, "/nowhere cannot be read; name the file of accounts export."),
            (["accounts", "import", "--from", "/nowhere"], 1, "/nowhere cannot be read (No such file or directory)"),
            (
                ["accounts", "import", fleet.config], 2,
                "That is no file of starwatch accounts export, or it is cut off; export the account again."
            ),
            (
                ["accounts", "export", Self.did, "--to", fleet.workspace.path("new.json")], 1,
                "This agent does not serve that account; see starwatch accounts list"
            ),
            (["accounts", "export", Self.did, "--to", fleet.config], 1, "\(fleet.config) exists; name a new file."),
        ]
        for (arguments, status, sentence) in cases {
            let result = try await fleet.command(arguments)
            #expect(result.status == status, "\(arguments): \(result.errors)")
            #expect(result.errors.hasPrefix("starwatch: " + sentence), "\(arguments): \(result.errors)")
            #expect(result.errors.split(separator: "\n").count == 1, "\(arguments): \(result.errors)")
        }
        #expect(!FileManager.default.fileExists(atPath: fleet.workspace.path("new.json")))
        #expect(try await fleet.command(from).status == 0)
        #expect(await single.stop() == 0)
        #expect(await many.stop() == 0)
        try await fleet.mock.stop()
    }
}
