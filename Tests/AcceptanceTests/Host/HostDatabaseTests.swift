import Foundation
import GRDB
import MockEndorser
import Testing

/// `storage.owner: host`, with the built binary.
@Suite struct HostDatabaseTests {
    private func configuration(_ workspace: Workspace, server: String, isEncrypted: Bool? = nil) throws {
        var configuration = TestConfiguration(server: server, plans: ["plan"], sinks: TestConfiguration.file(workspace))
        if let isEncrypted { configuration.isEncrypted = isEncrypted }
        if isEncrypted == true { try workspace.writeMasterKey() }
        let yaml = configuration.yaml(in: workspace).replacing("storage:\n", with: "storage:\n  owner: host\n")
        try workspace.write(yaml, to: "starwatch.yaml")
    }

    private func execute(_ sql: String, at path: String) throws {
        let queue = try DatabaseQueue(path: path)
        try queue.writeWithoutTransaction { try $0.execute(sql: sql) }
        try queue.close()
    }

    @Test(arguments: [false, true])
    func anAgentRunsOnTheDatabaseThatTheHostMadeOfThePrintedSchema(isEncrypted: Bool) async throws {
        let workspace = try Workspace()
        let mock = MockServer(options: MockServerOptions())
        try await mock.start()
        try configuration(workspace, server: mock.url, isEncrypted: isEncrypted)
        let schema = try await starwatch("schema")
        #expect(schema.status == 0)
        // The host has tables of its own in the same file.
        try execute("CREATE TABLE hosts (id INTEGER);" + schema.output, at: workspace.path("starwatch.db"))
        let stars = try await starwatch("stars", "set", "a", "b", "--config", workspace.path("starwatch.yaml"))
        #expect(stars.status == 0 && stars.output == "a\nb\n", "\(stars.errors)")
        let poll = try await starwatch("poll", "starred_projects", "--config", workspace.path("starwatch.yaml"))
        #expect(poll.status == 0, "\(poll.output)\(poll.errors)")
        let out = try await starwatch("stars", "opt-out", "--config", workspace.path("starwatch.yaml"))
        #expect(out.status == 0)
        let skipped = try await starwatch("poll", "starred_projects", "--config", workspace.path("starwatch.yaml"))
        #expect(skipped.status == 0 && skipped.output.contains("opted_out"), "\(skipped.output)")
        let data = try Data(contentsOf: URL(filePath: workspace.path("starwatch.db")))
        let hasName = String(decoding: data, as: Unicode.ASCII.self).contains("did:ethr:0x0000")
        #expect(hasName != isEncrypted)
        // The host's own table is still its own.
        try execute("INSERT INTO hosts VALUES (7)", at: workspace.path("starwatch.db"))
        try await mock.stop()
    }

    @Test(arguments: [
        ("", "starwatch schema"), ("PRAGMA user_version = 1", "move it away"),
        ("PRAGMA user_version = 9", "schema --from 9"), ("PRAGMA user_version = 99", "newer"),
    ])
    func oneThatItCannotUseIsLeftAsItIsAndTheErrorSaysWhatToDo(sql: String, advice: String) async throws {
        let workspace = try Workspace()
        try configuration(workspace, server: "http://127.0.0.1:9")
        let path = workspace.path("starwatch.db")
        if !sql.isEmpty { try execute("CREATE TABLE hosts (id INTEGER);" + sql, at: path) }
        let before = try? Data(contentsOf: URL(filePath: path))
        let result = try await starwatch("run", "--config", workspace.path("starwatch.yaml"))
        #expect(result.status == 2)
        #expect(result.errors.contains(advice) && result.errors.contains("nothing was written"), "\(result.errors)")
        #expect(result.errors.split(separator: "\n").count == 1)
        #expect((try? Data(contentsOf: URL(filePath: path))) == before)
    }

    @Test func aVersionThatDoesNotExistIsAUsageError() async throws {
        let result = try await starwatch("schema", "--from", "99")
        #expect(result.status == 2 && result.output.isEmpty)
    }
}
