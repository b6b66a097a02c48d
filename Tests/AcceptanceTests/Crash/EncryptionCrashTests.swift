import Foundation
import MockEndorser
import Testing

/// A kill -9 before any write of an encryption or of a rotation of keys, or in the middle of one, loses nothing and leaves
/// nothing readable.
@Suite(.serialized) struct EncryptionCrashTests {
    @Test func anEncryptionThatEndsBeforeAnyOfItsWritesIsFinishedByTheNext() async throws {
        let world = try await Sealed(isEncrypted: false)
        let clear = try await world.contents()
        #expect(try !world.canaries().isEmpty)
        try world.configure(isEncrypted: true)
        try world.keep()
        let writes = try await world.writes(of: "encrypt-database")
        #expect(try await world.keys(["encrypt-database"]).status == 0)
        let noted = "SELECT verb FROM journal WHERE actor LIKE 'command:%' ORDER BY id DESC LIMIT 1"
        #expect(try Database.read(world.database, noted) == "keys.encrypt-database")
        var kills = 0
        let deaths = CrashPointTests.deaths(of: writes, atMost: 6)
        for (point, isTorn) in deaths {
            let what: Comment = "killed at write \(point) of \(writes), torn: \(isTorn)"
            try world.restore()
            let killed = try await world.keys(
                ["encrypt-database"],
                environment: FaultLibrary.dying(at: point, isTorn: isTorn)
            )
            if killed.status == SIGKILL { kills += 1 }
            let again = try await world.keys(["encrypt-database"])
            #expect(again.status == 0, what)
            #expect(try await world.contents() == clear, what)
            #expect(try world.canaries() == [], what)
            #expect(try await world.keys(["verify"]).status == 0, what)
            #expect(try Database.read(world.database, "PRAGMA integrity_check") == "ok", what)
        }
        #expect(writes > 20 && kills > deaths.count * 2 / 3)
        try await world.mock.stop()
    }

    /// The agent starts instead of the command.
    @Test func aStartFinishesAnEncryptionWhoseFileIsNotYetRewritten() async throws {
        let world = try await Sealed(isEncrypted: false)
        let clear = try await world.contents()
        try world.configure(isEncrypted: true)
        try world.keep()
        let writes = try await world.writes(of: "encrypt-database")
        var starts = 0
        for (point, isTorn) in CrashPointTests.deaths(of: writes, atMost: 6) {
            try world.restore()
            _ = try await world.keys(["encrypt-database"], environment: FaultLibrary.dying(at: point, isTorn: isTorn))
            let listed = try await world.keys(["list"])
            // Before the transaction is durable the database is the clear one, which is not used with a master key.
            guard listed.status == 0 else {
                #expect(listed.status == 2 && listed.errors.contains("keys encrypt-database"))
                continue
            }
            starts += 1
            #expect(try await world.contents() == clear)
            #expect(try world.canaries() == [], "killed at write \(point) of \(writes), torn: \(isTorn)")
        }
        #expect(starts > 0)
        try await world.mock.stop()
    }

    @Test func aRotationOfTheMasterKeyThatEndsBeforeAnyOfItsWritesIsFinishedByTheNext() async throws {
        let world = try await Sealed(isEncrypted: true)
        let before = try await world.contents()
        try world.keep()
        let writes = try await world.writes(of: "rotate", "--master")
        var kills = 0
        let deaths = CrashPointTests.deaths(of: writes, atMost: 6)
        for (point, isTorn) in deaths {
            let what: Comment = "killed at write \(point) of \(writes), torn: \(isTorn)"
            try world.restore()
            let killed = try await world.keys(
                ["rotate", "--master"],
                environment: FaultLibrary.dying(at: point, isTorn: isTorn)
            )
            if killed.status == SIGKILL { kills += 1 }
            #expect(try await world.contents() == before, what)
            #expect(try await world.keys(["rotate", "--master"]).status == 0, what)
            #expect(try await world.contents() == before, what)
            #expect(try await world.keys(["verify"]).status == 0, what)
        }
        #expect(kills >= deaths.count / 2)
        try await world.mock.stop()
    }

    @Test func aRotationOfTheDataKeysThatEndsBeforeAnyOfItsWritesGoesOn() async throws {
        let world = try await Sealed(isEncrypted: true)
        let before = try await world.contents()
        for point in CrashPointTests.points(of: 60, atMost: 3) {
            let what: Comment = "killed at write \(point)"
            let rotated = try await world.keys(["rotate", "--data"], environment: FaultLibrary.dying(at: point))
            #expect([0, SIGKILL].contains(rotated.status), what)
            // The agent encrypts again while it runs.
            _ = try await starwatch("run", "--config", world.config, environment: FaultLibrary.dying(at: point + 40))
            #expect(try await world.contents() == before, what)
        }
        #expect(try await world.keys(["rotate", "--data"]).status == 0)
        let agent = try await RunningAgent(config: world.config, in: world.workspace)
        let ended = await eventually { () -> Bool? in
            guard let listed = try? await world.keys(["list"]) else { return nil }
            return listed.status == 0 && !listed.output.contains("retiring") ? true : nil
        }
        #expect(ended == true)
        #expect(await agent.stop() == 0)
        #expect(try await world.contents() == before)
        #expect(try world.canaries() == [])
        #expect(try await world.keys(["verify"]).status == 0)
        try await world.mock.stop()
    }

    /// A rotation to a named file is installed by hand, so nothing else may touch that file.
    @Test func noCommandTouchesAnotherKeyFile() async throws {
        let world = try await Sealed(isEncrypted: true)
        let next = world.workspace.path("master.key.new")
        #expect(try await world.keys(["rotate", "--master", "--new-key-file", next]).status == 0)
        let key = try Data(contentsOf: URL(filePath: next))
        let again = try await world.keys(["init"])
        #expect(again.status == 1 && again.errors.contains("exists already"))
        #expect(try Data(contentsOf: URL(filePath: next)) == key)
        try FileManager.default.removeItem(atPath: world.workspace.path("master.key"))
        try FileManager.default.moveItem(atPath: next, toPath: world.workspace.path("master.key"))
        #expect(try await world.keys(["verify"]).status == 0)
        try world.workspace.write(String(decoding: key, as: UTF8.self), to: "again.key")
        let same = try await world.keys(["rotate", "--master", "--new-key-file", world.workspace.path("again.key")])
        #expect(same.status == 1 && same.errors.contains("holds the master key in use"))
        try await world.mock.stop()
    }

    /// The state after a crash between the change of the key in the database and the change of its file.
    @Test func everyCommandFindsTheKeyOfAnInterruptedRotation() async throws {
        let world = try await Sealed(isEncrypted: true)
        let next = world.workspace.path("master.key.next")
        for command in [["verify"], ["encrypt-database"], ["decrypt-database"]] {
            #expect(try await world.keys(["rotate", "--master", "--new-key-file", next]).status == 0)
            let result = try await world.keys(command)
            #expect(result.status == 0, "\(command) \(result.errors)")
            #expect(!FileManager.default.fileExists(atPath: next), "\(command)")
        }
        try await world.mock.stop()
    }

    @Test func withoutTheRightKeyTheAgentEndsWithASentenceAndTheDatabaseStays() async throws {
        let world = try await Sealed(isEncrypted: true)
        let file = URL(filePath: world.database)
        let before = try Data(contentsOf: file)
        let key = try String(contentsOfFile: world.workspace.path("master.key"), encoding: .utf8)
        let cases = [
            (Data(repeating: 7, count: 32).base64EncodedString() + "\n", "is encrypted with the master key"),
            ("nonsense\n", "must hold 32 bytes in base64"), ("", "is empty"),
        ]
        for (content, words) in cases {
            try world.workspace.write(content, to: "master.key")
            let result = try await starwatch("run", "--config", world.config)
            #expect(result.status == 2)
            #expect(result.errors.contains(words), "\(result.errors)")
            #expect(!result.errors.contains(key))
            #expect(try Data(contentsOf: file) == before)
        }
        try world.configure(isEncrypted: false)
        let result = try await starwatch("run", "--config", world.config)
        #expect(result.status == 2)
        #expect(result.errors.contains("the database is encrypted, and no master key is configured"))
        #expect(try Data(contentsOf: file) == before)
        try FileManager.default.removeItem(atPath: world.workspace.path("master.key"))
        try world.configure(isEncrypted: true)
        #expect(try await starwatch("run", "--config", world.config).status == 2)
        try world.workspace.write(key, to: "master.key")
        #expect(try await world.keys(["verify"]).status == 0)
        try await world.mock.stop()
    }

    @Test func anErasedIdentityIsNowhereInTheFiles() async throws {
        for isEncrypted in [true, false] {
            let world = try await Sealed(isEncrypted: isEncrypted)
            let did = world.crash.configuration.did
            let agent = try await RunningAgent(config: world.config, in: world.workspace)
            let refused = try await starwatch("identity", "erase", did, "--config", world.config)
            #expect(refused.status == 1 && refused.errors.contains("sign out or change it first"))
            #expect(try await starwatch("identity", "set", "--sign-out", "--config", world.config).status == 0)
            #expect(try await starwatch("identity", "erase", did, "--config", world.config).status == 0)
            #expect(try world.canaries() == [])
            #expect(await agent.stop() == 0)
            #expect(try world.canaries() == [])
            try await world.mock.stop()
        }
    }
}

/// A database with changes of every state, and what of it must not be readable.
struct Sealed {
    let crash: AgentWorld
    var mock: MockServer { crash.mock }
    var workspace: Workspace { crash.workspace }
    var config: String { crash.config }
    var database: String { crash.database }

    init(_ crash: AgentWorld) { self.crash = crash }

    init(isEncrypted: Bool) async throws {
        crash = try await AgentWorld(.canonical, isEncrypted: isEncrypted)
        try await crash.cycle()
        for _ in 0..<3 {
            mock.publish(count: 20)
            try await crash.cycle()
        }
    }

    /// The names, handles and the DID that are in the database's files.
    func canaries() throws -> Set<String> {
        let texts = Set(mock.plans.map(\.name) + mock.planIDs + [crash.configuration.did])
        var found: Set<String> = []
        for suffix in ["", "-wal", "-shm", "-journal"] {
            guard let data = FileManager.default.contents(atPath: database + suffix) else { continue }
            for text in texts where data.contains(text) { found.insert(text) }
        }
        return found
    }

    /// What commands show of the database.
    func contents() async throws -> [String] {
        var answers: [String] = []
        for command in [
            ["outbox", "list", "--limit", "200"], ["notifications", "list"], ["stars", "list"], ["identity", "show"],
        ] {
            let result = try await starwatch(command + ["--json", "--config", config])
            #expect(result.status == 0, "\(command) \(result.errors)")
            answers.append(result.output)
        }
        return answers
    }

    func configure(isEncrypted: Bool) throws {
        try crash.write { $0.isEncrypted = isEncrypted }
    }

    func keys(_ arguments: [String], environment: [String: String] = [:]) async throws -> CommandResult {
        try await starwatch(["keys"] + arguments + ["--config", config], environment: environment)
    }

    /// The number of writes of a command. The files are then as they were kept.
    func writes(of command: String...) async throws -> Int {
        let result = try await keys(command, environment: FaultLibrary.counting(in: workspace.path("tally")))
        #expect(result.status == 0, "\(result.errors)")
        let tally = try String(contentsOfFile: workspace.path("tally"), encoding: .utf8)
        try restore()
        return tally.split(separator: "\n").count
    }

    private static let files = ["starwatch.db", "starwatch.db-wal", "starwatch.db-shm", "master.key"]

    /// Keeps a copy of the database and of the master key.
    func keep() throws {
        for file in Self.files where FileManager.default.fileExists(atPath: workspace.path(file)) {
            try FileManager.default.copyItem(atPath: workspace.path(file), toPath: workspace.path("kept-" + file))
        }
    }

    /// Restores what was kept.
    func restore() throws {
        for file in Self.files + ["master.key.next", "new.secret", "new.secret.next"] {
            try? FileManager.default.removeItem(atPath: workspace.path(file))
            let kept = workspace.path("kept-" + file)
            if FileManager.default.fileExists(atPath: kept) {
                try FileManager.default.copyItem(atPath: kept, toPath: workspace.path(file))
            }
        }
    }
}
