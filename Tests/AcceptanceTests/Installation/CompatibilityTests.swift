import Foundation
import GRDB
import MockEndorser
import Starwatch
import Testing

/// The built agent with what former versions left: databases of each schema version with changes in flight, and the way back.
@Suite(.enabled(if: !TestConfiguration.isRunEncrypted)) struct CompatibilityTests {
    /// A database that a former version wrote. Two of its changes wait for delivery.
    struct Former: Sendable, CustomTestStringConvertible {
        let name: String
        let statements: String
        var testDescription: String { name }
    }

    private static let tests = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    /// One of each schema version, and one of each release.
    static let all: [Former] = {
        let dumps = tests.appending(path: "StarwatchStoreTests/Dumps")
        let releases = tests.appending(path: "Releases")
        func names(_ folder: URL) -> [String] {
            ((try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []).sorted()
        }
        let files =
            names(dumps).filter { $0.hasPrefix("version-") }.map { dumps.appending(path: $0) }
            + names(releases).map { releases.appending(path: "\($0)/database.sql") }
        return files.map { file in
            let isRelease = file.lastPathComponent == "database.sql"
            return Former(
                name: (isRelease ? file.deletingLastPathComponent() : file.deletingPathExtension()).lastPathComponent,
                statements: (try? String(contentsOf: file, encoding: .utf8)) ?? ""
            )
        }
    }()

    /// An agent's files with the database of a former version, and a server with a change that it has not seen.
    static func world(
        _ former: Former,
        _ dialect: MockDialect = .canonical
    ) async throws -> (world: AgentWorld, new: String) {
        let world = try await AgentWorld {
            $0.dialect = dialect
        } configure: { configuration, _ in
            configuration.groupInterval = "0s"
        }
        let statements = former.statements.replacing("https://api.example", with: world.mock.url)
        var configuration = Configuration()
        configuration.allowsUnsafeTransactions = true
        let queue = try DatabaseQueue(path: world.database, configuration: configuration)
        try await queue.writeWithoutTransaction { try $0.execute(sql: statements) }
        try queue.close()
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: world.database)
        let rows = "FROM notification_outbox WHERE state = 'pending' ORDER BY jwt_id"
        let plans = try Database.strings(world.database, "SELECT plan_id " + rows)
        let changes = try Database.strings(world.database, "SELECT jwt_id " + rows)
        // The server knows what it sent. It rejects the acknowledgement of other changes.
        _ = world.mock.publish(zip(plans, changes).map { MockChange(planID: $0, id: $1) })
        return (world, world.mock.publish([MockChange(planID: try #require(plans.first))])[0])
    }

    private func open(_ world: AgentWorld) throws -> [String] {
        let sql = "SELECT jwt_id FROM notification_outbox WHERE state <> 'acknowledged' ORDER BY jwt_id"
        return try Database.strings(world.database, sql)
    }

    private func copies(_ world: AgentWorld) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: world.workspace.url.path).filter { $0.contains(".before-") }
    }

    /// Runs the agent until it has delivered and acknowledged so many changes.
    ///
    /// - Returns: The agent's log.
    @discardableResult
    private func run(_ world: AgentWorld, until count: Int) async throws -> String {
        let agent = try await world.start()
        let done = await eventually {
            let changes = (try? world.notifications().flatMap(\.changes)) ?? []
            return changes.count >= count && (try? open(world).isEmpty) == true ? true : nil
        }
        #expect(done == true, "\(agent.logText.suffix(2000))")
        #expect(await agent.stop() == 0)
        return agent.logText
    }

    /// What the journal says of upgrades.
    private func upgrades(_ world: AgentWorld) throws -> [String] {
        let sql = "SELECT actor || ' ' || target || ' ' || detail FROM journal WHERE verb = 'storage.upgrade'"
        return try Database.strings(world.database, sql)
    }

    @Test func thereIsADatabaseOfEachFormerVersionAndOfARelease() throws {
        let names = Self.all.map(\.name)
        let newest = try #require(names.compactMap { $0.wholeMatch(of: /version-(\d+)/).flatMap { Int($0.1) } }.max())
        for version in 9...newest { #expect(names.contains("version-\(version)")) }
        #expect(names.contains { !$0.hasPrefix("version-") })
    }

    @Test(arguments: all)
    func aFormerDatabaseIsMigratedWithoutLosingWhatIsInFlight(former: Former) async throws {
        let (world, new) = try await Self.world(former)
        let version = try Database.integer(world.database, "PRAGMA user_version")
        let pending = try open(world)
        #expect(pending.count == 2)
        let log = try await run(world, until: 3)
        let announced = try world.notifications().flatMap(\.changes)
        #expect(announced.sorted() == (pending + [new]).sorted(), "each once")
        #expect(try Database.booksBalance(world.database))
        #expect(try Database.watermark(at: world.database) == new)
        let newest = try Database.integer(world.database, "PRAGMA user_version")
        let isOld = version != newest
        let copy = "starwatch.db.before-\(newest)"
        #expect(try copies(world) == (isOld ? [copy] : []))
        let lines = log.split(separator: "\n").filter { $0.contains("storage.upgraded") }
        #expect(lines.count == (isOld ? 1 : 0))
        for part in ["\"from\":\(version)", "\"to\":\(newest)", "\"copy\":\"\(copy)\""] where isOld {
            #expect(lines.first?.contains(part) == true, "\(part) in \(lines)")
        }
        let entry = "agent from=\(version),to=\(newest) The copy from before is \(copy)."
        #expect(try upgrades(world) == (isOld ? [entry] : []))
        try await world.mock.stop()
    }

    /// The oldest schema version, and the releases.
    static let downgraded = all.prefix(1) + all.filter { !$0.name.hasPrefix("version-") }

    @Test(arguments: downgraded)
    func aDowngradeIsRefusedInOneSentenceAndTheCopyThatItNamesWorks(former: Former) async throws {
        let (world, new) = try await Self.world(former)
        let pending = try open(world)
        // This program makes no copy of a database that needs no upgrade; the later one did.
        if try Database.integer(world.database, "PRAGMA user_version") == HostDatabase.versions.upperBound {
            let later = world.workspace.path("starwatch.db.before-99")
            try FileManager.default.copyItem(atPath: world.database, toPath: later)
        }
        try await run(world, until: 3)
        let copy = try #require(try copies(world).first)
        // As a later version would leave it.
        try Database.execute(world.database, "PRAGMA user_version = 99")
        let before = try Data(contentsOf: URL(filePath: world.database))
        let refused = try await starwatch("run", "--config", world.config)
        #expect(refused.status == 2)
        let lines = (refused.errors + refused.output).split(separator: "\n").filter { $0.contains("schema version 99") }
        #expect(lines.count == 1 && lines[0].contains("restore \(copy)"), "\(refused.errors)\(refused.output)")
        #expect(try Data(contentsOf: URL(filePath: world.database)) == before)

        for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: world.database + suffix) }
        try FileManager.default.moveItem(atPath: world.workspace.path(copy), toPath: world.database)
        try await run(world, until: 6)
        #expect(Set(try world.notifications().flatMap(\.changes)) == Set(pending + [new]))
        try await world.mock.stop()
    }

    @Test func withoutARetentionTheUpgradeKeepsNoCopy() async throws {
        let (world, _) = try await Self.world(try #require(Self.all.first))
        let file = URL(filePath: world.config)
        let text = try String(contentsOf: file, encoding: .utf8)
        let path = "path: \(world.database)\n"
        try world.workspace.write(
            text.replacing(path, with: path + "  keep_before_upgrade: 0s\n"),
            to: "starwatch.yaml"
        )
        let log = try await run(world, until: 3)
        #expect(try copies(world).isEmpty)
        #expect(log.contains("storage.upgraded") && !log.contains("\"copy\""))
        #expect(try upgrades(world).first?.hasSuffix("No copy from before is kept.") == true)
        try await world.mock.stop()
    }

    @Test func aCheckOfTheConfigurationMigratesNothing() async throws {
        let (world, _) = try await Self.world(try #require(Self.all.first))
        let checked = try await starwatch("check", "--config", world.config)
        #expect(checked.status == 0, "\(checked.errors)")
        #expect(try Database.integer(world.database, "PRAGMA user_version") == 9, "a check migrates nothing")
        #expect(try copies(world).isEmpty)
        try await world.mock.stop()
    }
}
