import Foundation
import Glibc
import MockEndorser
import Testing

/// A database that is encrypted from the first start.
@Suite(.timeLimit(.minutes(5))) struct EncryptedStartTests {
    private static let did = "did:ethr:0x00000000000000000000000000000000000000aa"
    /// Nobody, on Debian.
    private static let nobody = 65_534

    private func with(_ body: (MockServer, Workspace) async throws -> Void) async throws {
        var options = MockServerOptions()
        options.planCount = 3
        let mock = MockServer(options: options)
        try await mock.start()
        mock.publish(count: 2)
        try await body(mock, try Workspace())
        try await mock.stop()
    }

    /// `init` with flags alone, as a script runs it.
    private func initialize(_ mock: MockServer, _ workspace: Workspace, _ more: String...) async throws -> CommandResult
    {
        let stars = mock.planIDs.flatMap { ["--star", $0] }
        return try await starwatch(
            ["init", "--server", mock.url, "--folder", workspace.url.path, "--did", Self.did, "--sink", "feed"]
                + ["--announce-last-week"] + stars + more
        )
    }

    private func poll(_ workspace: Workspace) async throws {
        let result = try await starwatch("poll", "starred_projects", "--config", workspace.path("starwatch.yaml"))
        #expect(result.status == 0 && result.output.contains(" 2 new"), "\(result.output)\(result.errors)")
    }

    /// The DID and plans that files below a folder contain.
    private func names(of mock: MockServer, in folder: String) throws -> [String] {
        let files = try FileManager.default.contentsOfDirectory(atPath: folder)
        let texts = files.compactMap { FileManager.default.contents(atPath: folder + "/" + $0) }
            .map { String(decoding: $0, as: Unicode.ASCII.self) }
        return ([Self.did] + mock.planIDs).filter { name in texts.contains { $0.contains(name) } }
    }

    private func mode(_ path: String) throws -> Int? {
        (try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? NSNumber)?.intValue
    }

    @Test func initMakesTheKeyAndTheFirstRunSeals() async throws {
        try await with { mock, workspace in
            let result = try await initialize(mock, workspace)
            #expect(result.status == 0, "\(result.output)\(result.errors)")
            let key = workspace.path("master.key")
            #expect(result.output.contains("Copy \(key) to a password manager now, not to the backup of the database."))
            // The answer is for a person, without lines of a log.
            #expect(!result.errors.contains("{"), "\(result.errors)")
            #expect(try mode(key) == 0o600)
            let text = try String(contentsOfFile: key, encoding: .utf8)
            #expect(!result.output.contains(text.dropLast()) && !result.errors.contains(text.dropLast()))
            try await poll(workspace)
            let config = workspace.path("starwatch.yaml")
            let data = workspace.path("data")
            #expect(try FileManager.default.contentsOfDirectory(atPath: data).contains("starwatch.db"))
            #expect(try names(of: mock, in: data) == [])
            let verified = try await starwatch("keys", "verify", "--json", "--config", config)
            #expect(verified.status == 0, "\(verified.output)\(verified.errors)")
            #expect(try await starwatch("check", "--config", config).status == 0)
            let doctor = try await starwatch("doctor", "--config", config)
            #expect(doctor.output.contains("ok       database"), "\(doctor.output)")
            // A copy of the data alone opens nowhere.
            try FileManager.default.removeItem(atPath: key)
            let thief = try await starwatch("stars", "list", "--config", config)
            #expect(thief.status == 2 && thief.errors.contains("security.master_key_file"), "\(thief.errors)")
        }
    }

    @Test func withNoEncryptionThereIsNoKey() async throws {
        try await with { mock, workspace in
            let result = try await initialize(mock, workspace, "--no-encryption")
            #expect(result.status == 0, "\(result.output)\(result.errors)")
            try await poll(workspace)
            #expect(!FileManager.default.fileExists(atPath: workspace.path("master.key")))
            // The search finds what it looks for.
            #expect(try names(of: mock, in: workspace.url.path).count == 1 + mock.planIDs.count)
            // A second init leaves the clear database usable, and says how to encrypt it.
            let second = try await initialize(mock, workspace)
            #expect(second.status == 0)
            let commands = try #require(second.output.range(of: "is not encrypted, and stays so. To encrypt it"))
            let config = workspace.path("starwatch.yaml")
            #expect(try await starwatch("stars", "list", "--config", config).status == 0)
            for line in second.output[commands.upperBound...].split(separator: "\n").dropFirst().prefix(3) {
                let shell = URL(filePath: "/bin/sh")
                let path = Binary.starwatch.deletingLastPathComponent().path + ":/usr/bin:/bin"
                let done = try await runToEnd(shell, ["-c", String(line)], environment: ["PATH": path])
                #expect(done.status == 0, "\(line): \(done.errors)")
            }
            let stars = try await starwatch("stars", "list", "--config", config)
            #expect(stars.status == 0 && stars.output.contains(mock.planIDs[0]), "\(stars.errors)")
            let data = try Data(contentsOf: URL(filePath: workspace.path("starwatch.db")))
            #expect(!String(decoding: data, as: Unicode.ASCII.self).contains(mock.planIDs[0]))
        }
    }

    @Test func aSecondInitKeepsTheKeyAndRefusesToLoseIt() async throws {
        try await with { mock, workspace in
            #expect(try await initialize(mock, workspace).status == 0)
            try await poll(workspace)
            let key = try String(contentsOfFile: workspace.path("master.key"), encoding: .utf8)
            let second = try await initialize(mock, workspace, "--untested")
            #expect(second.status == 0 && second.output.contains("kept     the master key"), "\(second.errors)")
            #expect(try String(contentsOfFile: workspace.path("master.key"), encoding: .utf8) == key)
            #expect(try await starwatch("stars", "list", "--config", workspace.path("starwatch.yaml")).status == 0)
            let clear = try await initialize(mock, workspace, "--untested", "--no-encryption")
            #expect(clear.status == 1 && clear.errors.contains("keys decrypt-database"), "\(clear.errors)")
            try FileManager.default.removeItem(atPath: workspace.path("master.key"))
            try FileManager.default.removeItem(atPath: workspace.path("starwatch.yaml"))
            let lost = try await initialize(mock, workspace, "--untested")
            #expect(lost.status == 1 && lost.errors.contains("put that key into"), "\(lost.errors)")
            #expect(!FileManager.default.fileExists(atPath: workspace.path("starwatch.yaml")))
        }
    }

    /// As with the package under systemd, which decrypts it for the service alone.
    @Test(.enabled(if: geteuid() == 0))
    func aCredentialInThePlaceOfTheKeyOpensForRootAndForTheService() async throws {
        try await with { mock, workspace in
            #expect(try await initialize(mock, workspace).status == 0)
            let (key, config) = (workspace.path("master.key"), workspace.path("starwatch.yaml"))
            let credentials = try Workspace()
            try FileManager.default.copyItem(atPath: key, toPath: credentials.path("master.key"))
            let arguments = ["encrypt", "--with-key=host", "--name=master.key", key, key + ".cred"]
            let sealed = try await runToEnd(try Program.find("systemd-creds"), arguments)
            #expect(sealed.status == 0, "\(sealed.errors)")
            try FileManager.default.removeItem(atPath: key)
            try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: workspace.url.path)
            try FileManager.default.setAttributes([.ownerAccountID: Self.nobody], ofItemAtPath: workspace.path("data"))
            // Root decrypts it, and becomes the user of the database.
            try await poll(workspace)
            #expect(try names(of: mock, in: workspace.path("data")) == [])
            let check = try await starwatch("check", "--config", config)
            #expect(check.status == 0, "\(check.errors)")
            let doctor = try await starwatch("doctor", "--config", config)
            #expect(doctor.output.contains("ok       database"), "\(doctor.output)")
            // The service gets the key from systemd, and is not started without it.
            try FileManager.default.setAttributes([.ownerAccountID: 0], ofItemAtPath: workspace.path("data"))
            for name in try FileManager.default.contentsOfDirectory(atPath: workspace.path("data")) {
                let file = workspace.path("data/" + name)
                try FileManager.default.setAttributes([.ownerAccountID: 0], ofItemAtPath: file)
            }
            let nowhere = ["CREDENTIALS_DIRECTORY": "/nowhere"]
            let none = try await starwatch("run", "--config", config, environment: nowhere)
            #expect(none.status == 2 && none.errors.contains("LoadCredentialEncrypted="), "\(none.errors)")
            let yaml = try String(contentsOfFile: config, encoding: .utf8)
            try workspace.write(yaml + "http: {listen: \"127.0.0.1:0\"}\n", to: "starwatch.yaml")
            let environment = ["CREDENTIALS_DIRECTORY": credentials.url.path]
            let agent = try await RunningAgent(config: config, in: workspace, environment: environment)
            #expect(try await starwatch("keys", "verify", "--config", config).status == 0)
            let again = try await initialize(mock, workspace, "--untested")
            #expect(again.output.contains("kept     the master key"), "\(again.output)\(again.errors)")
            #expect(again.output.contains("sudo systemd-creds decrypt --name=master.key \(key).cred -"))
            #expect(agent.isRunning)
        }
    }

    /// Runs init as root for a service of another user: that user owns the data, and only root reads the key.
    private func initializeForNobody(_ mock: MockServer, _ workspace: Workspace) async throws {
        #expect(try await initialize(mock, workspace).status == 0)
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: workspace.url.path)
        try FileManager.default.setAttributes([.ownerAccountID: Self.nobody], ofItemAtPath: workspace.path("data"))
    }

    /// Root reads the key, and then becomes the user of the database, who cannot.
    @Test(.enabled(if: geteuid() == 0))
    func rootOpensTheDatabaseOfAServiceWithAKeyThatOnlyRootReads() async throws {
        try await with { mock, workspace in
            try await initializeForNobody(mock, workspace)
            try await poll(workspace)
            let database = workspace.path("data/starwatch.db")
            let owner = try FileManager.default.attributesOfItem(atPath: database)[.ownerAccountID] as? NSNumber
            #expect(owner?.intValue == Self.nobody)
            #expect(try names(of: mock, in: workspace.path("data")) == [])
            // It asks for the identity and for the stars, and is that user when it asks for the second.
            let second = try await initialize(mock, workspace, "--untested")
            #expect(second.status == 0 && !second.output.contains("own DID and plans stay"), "\(second.output)")
        }
    }

    /// The agent is no longer root when it reloads.
    @Test(.enabled(if: geteuid() == 0))
    func anAgentThatRootStartedReloadsWithAKeyThatOnlyRootReads() async throws {
        try await with { mock, workspace in
            try await initializeForNobody(mock, workspace)
            let config = workspace.path("starwatch.yaml")
            let yaml = try String(contentsOfFile: config, encoding: .utf8)
            let more = "http: {listen: \"127.0.0.1:0\"}\ncontrol: {socket: data/starwatch.sock}\n"
            try workspace.write(yaml + more, to: "starwatch.yaml")
            try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: config)
            let agent = try await RunningAgent(config: config, in: workspace)
            let reload = try await starwatch("reload", "--config", config)
            #expect(reload.status == 0, "\(reload.output)\(reload.errors)")
            #expect(agent.isRunning)
        }
    }
}
