import Foundation
import MockEndorser
import Testing

/// The built agent on an encrypted database in which one bit is flipped.
@Suite(.serialized) struct UnreadableValueTests {
    private struct Row: Decodable {
        let id: Int
        let state: String
        let reason: String?
        let jwt_id: String
    }

    private func rows(_ world: Sealed, _ filter: String...) async throws -> [Row] {
        let list = try await starwatch(["outbox", "list", "--json", "--config", world.config] + filter)
        #expect(list.status == 0, "\(list.errors)")
        return try JSONDecoder().decode([Row].self, from: Data(list.output.utf8))
    }

    /// Changes the configuration: with a long interval new rows stay pending.
    private func configure(_ world: Sealed, groupInterval: String, isEncrypted: Bool = true) throws {
        try world.crash.write {
            $0.groupInterval = groupInterval
            $0.isEncrypted = isEncrypted
        }
    }

    /// Changes a digit of the ciphertext of the oldest pending row.
    private func damage(_ world: Sealed, _ column: String) throws -> String {
        let oldest = "(SELECT min(id) FROM notification_outbox WHERE state = 'pending')"
        try Database.execute(
            world.database,
            """
            UPDATE notification_outbox SET \(column) = substr(\(column), 1, 20)
                || iif(substr(\(column), 21, 1) = 'A', 'B', 'A') || substr(\(column), 22) WHERE id = \(oldest)
            """
        )
        return try #require(
            try Database.read(world.database, "SELECT jwt_id FROM notification_outbox WHERE id = \(oldest)")
        )
    }

    @Test(arguments: ["plan_id", "name"])
    func oneFlippedBitInTheOldestPendingRowStopsNothingElse(column: String) async throws {
        let world = try await Sealed(isEncrypted: true)
        try configure(world, groupInterval: "1h")
        let published = world.mock.publish(count: 8)
        #expect(try await world.crash.cycle().status == 0)
        #expect(try await rows(world, "--state", "pending").count == 8)
        let damaged = try damage(world, column)
        try configure(world, groupInterval: "0s")

        let agent = try await RunningAgent(config: world.config, in: world.workspace)
        let received = await eventually { () -> [String]? in
            let ids = Set(world.mock.receivedNotifications.flatMap(\.jwtIDs)).intersection(published)
            return ids.count >= 7 ? ids.sorted() : nil
        }
        #expect(received == published.filter { $0 != damaged }.sorted())
        let dead = await eventually { () -> [Row]? in
            let found = try? await rows(world, "--state", "dead")
            return found?.isEmpty == false ? found : nil
        }
        #expect(dead?.map(\.jwt_id) == [damaged] && dead?.map(\.reason) == ["unreadable"])
        let id = try #require(dead?.first?.id)
        let shown = try await starwatch("outbox", "show", "\(id)", "--config", world.config)
        #expect(shown.status == 0 && shown.output.contains("does not open"), "\(shown.output)\(shown.errors)")
        for _ in 0..<12 {
            let status = try await starwatch("status", "--json", "--config", world.config)
            #expect(status.output.contains("dead_letters"), "\(status.output)")
        }
        let retried = try await starwatch("outbox", "retry", "\(id)", "--config", world.config)
        #expect(retried.status == 1 && retried.errors.contains("does not open"), "\(retried.errors)")
        let discarded = try await starwatch("outbox", "discard", "\(id)", "--config", world.config)
        #expect(discarded.output == "1 row discarded.\n", "\(discarded.errors)")
        #expect(await agent.stop() == 0)
        #expect(try Database.booksBalance(world.database))

        let verified = try await world.keys(["verify"])
        #expect(verified.status == 1 && verified.output.contains("notification_outbox.\(column)"))
        let before = try await rows(world).map(\.id)
        let decrypted = try await world.keys(["decrypt-database"])
        #expect(decrypted.status == 0, "\(decrypted.errors)")
        #expect(
            decrypted.output.contains(
                "1 encrypted value did not open and is lost: 1 of notification_outbox.\(column)."
            ),
            "\(decrypted.output)"
        )
        try configure(world, groupInterval: "0s", isEncrypted: false)
        #expect(try await rows(world).map(\.id) == before)
        #expect(try await world.crash.cycle().status == 0)
        try await world.mock.stop()
    }

    @Test func anExportLeavesOutAValueThatDoesNotOpenAndSaysSo() async throws {
        let world = try await Sealed(isEncrypted: true)
        try configure(world, groupInterval: "1h")
        world.mock.publish(count: 2)
        #expect(try await world.crash.cycle().status == 0)
        _ = try damage(world, "name")
        let (did, file) = (world.crash.configuration.did, world.workspace.path("account.json"))
        let exported = try await starwatch("accounts", "export", did, "--to", file, "--config", world.config)
        #expect(exported.status == 1)
        #expect(
            exported.errors.contains("1 encrypted value did not open and is lost: 1 of notification_outbox.name."),
            "\(exported.errors)"
        )
        #expect(exported.errors.contains("dead letters of the agent that imports the account"), "\(exported.errors)")
        #expect(!exported.errors.contains(did))
        #expect(FileManager.default.fileExists(atPath: file))
        try await world.mock.stop()
    }

    @Test func anImportFromADatabaseStopsBeforeItLosesAValue() async throws {
        let world = try await Sealed(isEncrypted: true)
        try configure(world, groupInterval: "1h")
        world.mock.publish(count: 2)
        #expect(try await world.crash.cycle().status == 0)
        _ = try damage(world, "name")
        let fleet = try await AgentWorld(mock: world.mock) { _ in
        } configure: { configuration, workspace in
            configuration.isOfMany = true
            configuration.requestsPerMinute = 100_000
            configuration.groupInterval = "1h"
            configuration.sinks = TestConfiguration.webhook(configuration.server)
            configuration.isEncrypted = true
            try workspace.writeMasterKey()
        }
        let agent = try await fleet.start()

        let key = world.workspace.path("master.key")
        let from = ["accounts", "import", "--from", world.database, "--from-key", key]
        let stopped = try await fleet.command(from)
        #expect(stopped.status == 1 && stopped.output.isEmpty, "\(stopped.output)")
        #expect(
            stopped.errors.contains("1 encrypted value did not open and is lost: 1 of notification_outbox.name."),
            "\(stopped.errors)"
        )
        #expect(stopped.errors.hasSuffix("by --without-lost-values.\n"), "\(stopped.errors)")
        #expect(try await rows(world, "--state", "pending").count == 2)

        let imported = try await fleet.command(from + ["--without-lost-values"])
        #expect(imported.status == 0, "\(imported.errors)")
        #expect(imported.output.hasPrefix("This agent serves the account now"))
        // Nothing is left to lose.
        let again = try await fleet.command(from)
        #expect(again.status == 0, "\(again.errors)")
        #expect(again.output == "The account came with this file before; nothing was changed.\n")
        #expect(await agent.stop() == 0)
        try await world.mock.stop()
    }

    @Test func rotationsWhilePollingCancelNoCycleAndMissNothing() async throws {
        let world = try await Sealed(isEncrypted: true)
        let agent = try await RunningAgent(config: world.config, in: world.workspace)
        for _ in 0..<2 {
            #expect(try await world.keys(["rotate", "--data"]).status == 0)
            // The values are encrypted again in the background.
            let ended = await eventually { () -> Bool? in
                world.mock.publish(count: 1)
                guard let listed = try? await world.keys(["list"]) else { return nil }
                return listed.status == 0 && !listed.output.contains("retiring") ? true : nil
            }
            #expect(ended == true)
            world.mock.publish(count: 3)
        }
        let all = world.mock.publishedIDs.sorted()
        let received = await eventually { () -> [String]? in
            let ids = world.mock.receivedNotifications.flatMap(\.jwtIDs).sorted()
            return ids.count >= all.count ? ids : nil
        }
        #expect(received == all)
        let cancelled = try await agent.pages.metric(
            "starwatch_poll_outcomes_total{poll=\"starred_projects\",outcome=\"cancelled\"}"
        )
        #expect(cancelled == 0)
        #expect(await agent.stop() == 0)
        try await world.mock.stop()
    }
}
