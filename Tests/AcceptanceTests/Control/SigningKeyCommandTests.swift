import Foundation
import MockEndorser
import Testing

/// `starwatch keys` for the keys that sign tokens, with a running agent.
@Suite(.serialized) struct SigningKeyCommandTests {
    private static let secret = "CANARYSECRET0123456789abcdefghij"

    /// A server that takes tokens of the secret, and an agent's files.
    private func world(
        auth: String,
        server change: (inout MockServerOptions) -> Void = { _ in }
    ) async throws -> AgentWorld {
        try await AgentWorld {
            $0.planCount = 5
            $0.auth = .sharedSecret(Array(Self.secret.utf8))
            change(&$0)
        } configure: { configuration, workspace in
            try workspace.writeMasterKey()
            try workspace.write(Self.secret + "\n", to: "secret")
            configuration.auth = auth
            configuration.isEncrypted = true
        }
    }

    private static let stored = "kind: shared_secret\n  stored_keys: true"

    @Test func anImportedKeyTakesThePlaceOfItsFile() async throws {
        let world = try await world(auth: "kind: none")
        try world.write { $0.auth = "kind: shared_secret\n  secret_file: \(world.workspace.path("secret"))" }
        let agent = try await world.start()
        try await world.polls(2)
        #expect(world.kids().allSatisfy { $0 == nil })
        let imported = try await world.keys("import", "--file", world.workspace.path("secret"), "--kid", "2026-01")
        #expect(imported.status == 0 && imported.output.contains("can now be destroyed"), "\(imported)")
        #expect(imported.output.contains("when auth.stored_keys is true"))
        #expect(try await world.active() == "2026-01")
        try FileManager.default.removeItem(atPath: world.workspace.path("secret"))
        try world.write { $0.auth = Self.stored }
        agent.hangUp()
        let signed = await eventually { world.kids().last == "2026-01" ? true : nil }
        #expect(signed == true, "\(agent.logText)")
        let pages = AgentPages(address: agent.lastAddress)
        let created = try #require(try await pages.metric("starwatch_key_created_timestamp_seconds"))
        #expect(abs(created - Date().timeIntervalSince1970) < 600)
        let doctor = try await starwatch("doctor", "--config", world.config)
        #expect(doctor.output.contains("The server did not reject the agent's token (shared_secret)."), "\(doctor)")
        #expect(!doctor.output.contains("There is no token"))
        // The key is in the agent's database, so the command itself has no token, and sends no poll.
        let polls = world.mock.requests { $0.endpoint != .other }
        #expect(polls.allSatisfy { $0.header("Authorization") != nil })
        #expect(doctor.output.contains(/ok +server +The server answers in the dialect/), "\(doctor)")
        #expect(!agent.logText.contains("poll.failed"))
        #expect(!agent.logText.contains(Self.secret))
        #expect(await agent.stop() == 0)
        try await world.mock.stop()
    }

    /// R-SEC-04: agent and server need no common time for a rotation.
    @Test func noPollFailsDuringARotation() async throws {
        let world = try await world(auth: Self.stored)
        #expect(try await world.keys("import", "--file", world.workspace.path("secret")).status == 0)
        let former = try #require(try await world.active())
        let agent = try await world.start()
        try await world.polls(2)
        let rotated = try await world.keys("rotate", "--signing", "--to", world.newSecret)
        #expect(rotated.status == 0, "\(rotated.errors)")
        let newest = try #require(try await world.active())
        #expect(newest != former && rotated.output.contains(newest))
        // The server knows only the former one.
        try await world.polls(3)
        #expect(world.kids().contains(newest) && world.kids().last == former)
        let new = try String(contentsOfFile: world.newSecret, encoding: .utf8).filter { $0 != "\n" }
        world.mock.setAuth(.sharedSecret(Array(new.utf8)))
        let known = world.mock.requestCount(of: .plansChanged)
        let signed = await eventually { world.kids(since: known).suffix(2) == [newest, newest] ? true : nil }
        #expect(signed == true)
        #expect(!agent.logText.contains("poll.failed"), "\(agent.logText)")
        #expect(!agent.logText.contains(new) && !rotated.output.contains(new))
        #expect(agent.logText.contains("keys.rotated"))
        let again = try await world.keys("rotate", "--signing", "--to", world.newSecret)
        #expect(again.status == 1 && again.errors.contains("exists already"))
        #expect(await agent.stop() == 0)
        try await world.mock.stop()
    }

    @Test func afterAnEmergencyTheFormerKeySignsNothing() async throws {
        let world = try await world(auth: Self.stored)
        #expect(try await world.keys("import", "--file", world.workspace.path("secret")).status == 0)
        let agent = try await world.start()
        try await world.polls(1)
        let rotated = try await world.keys("rotate", "--signing", "--emergency", "--to", world.newSecret)
        #expect(rotated.status == 0, "\(rotated.errors)")
        let count = world.mock.requestCount(of: .plansChanged)
        try await world.polls(3)
        let newest = try await world.active()
        // One request can have been under way.
        #expect(world.kids(since: count + 1).allSatisfy { $0 == newest })
        let new = try String(contentsOfFile: world.newSecret, encoding: .utf8).filter { $0 != "\n" }
        world.mock.setAuth(.sharedSecret(Array(new.utf8)))
        #expect(try await starwatch("poll", "starred_projects", "--config", world.config).status == 0)
        #expect(await agent.stop() == 0)
        try await world.mock.stop()
    }

    @Test func theActiveKeyIsRevokedOnlyByForce() async throws {
        let world = try await world(auth: Self.stored)
        let path = world.workspace.path("secret")
        #expect(try await world.keys("import", "--file", path, "--kid", "one").status == 0)
        let agent = try await world.start()
        try await world.polls(1)
        let refused = try await world.keys("revoke", "one")
        #expect(refused.status == 1 && refused.errors.contains("give --force"), "\(refused)")
        let decryption = try await world.keys("revoke", "two")
        #expect(decryption.status == 1 && decryption.errors.contains("no signing key of that name"))
        #expect(try await world.keys("revoke", "one", "--force").status == 0)
        #expect(try await world.active() == nil)
        let missing = await eventually { agent.logText.contains("\"reason\":\"no_token\"") ? true : nil }
        #expect(missing == true, "\(agent.logText)")
        #expect(agent.logText.contains("keys.revoked"))
        let used = try await world.keys("import", "--file", path, "--kid", "one")
        #expect(used.status == 1 && used.errors.contains("never used again"))
        #expect(try await world.keys("import", "--file", path).status == 0)
        #expect(try await starwatch("poll", "starred_projects", "--config", world.config).status == 0)
        #expect(await agent.stop() == 0)
        let kept = try await world.keys("decrypt-database")
        #expect(kept.status == 2 && kept.errors.contains("signing keys, which would be destroyed"), "\(kept)")
        #expect(try await world.keys("decrypt-database", "--force").status == 0)
        try await world.mock.stop()
    }

    @Test func thePrivateKeyOfAnotherDIDIsRefusedAndNoneIsRotated() async throws {
        let world = try await world(auth: "kind: did_key\n  stored_keys: true") {
            $0.dialect = .endorser
            $0.auth = .didKey
        }
        let key = "278a5de700e29faae8e40e366ec5012b5ec63d36ec77e8a2417154cc1d25383f"
        try world.workspace.write(key + "\n", to: "key")
        let path = world.workspace.path("key")
        let other = try await world.keys("import", "--file", path)
        #expect(other.status == 2 && other.errors.contains("not that of the active identity"), "\(other)")
        let did = "did:ethr:0xF3beAC30C498D9E26865F34fCAa57dBB935b0D74"
        #expect(try await starwatch("identity", "set", did, "--config", world.config).status == 0)
        #expect(try await world.keys("import", "--file", path).status == 0)
        let poll = try await starwatch("poll", "starred_projects", "--config", world.config)
        #expect(poll.status == 0, "\(poll)")
        let rotated = try await world.keys("rotate", "--signing", "--to", world.newSecret)
        #expect(rotated.status == 1 && rotated.errors.contains("is the identity itself"), "\(rotated)")
        for suffix in ["", ".next"] { #expect(!FileManager.default.fileExists(atPath: world.newSecret + suffix)) }
        let open = world.workspace.path("secret")
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: open)
        let readable = try await world.keys("import", "--file", open)
        #expect(readable.status == 2 && readable.errors.contains("chmod 600"), "\(readable)")
        try await world.mock.stop()
    }
}

extension AgentWorld {
    /// The file of a new secret.
    fileprivate var newSecret: String { workspace.path("new.secret") }

    fileprivate func keys(_ arguments: String...) async throws -> CommandResult {
        try await starwatch(["keys"] + arguments + ["--config", config])
    }

    /// The names of keys in the tokens of the requests since `count`.
    fileprivate func kids(since count: Int = 0) -> [String?] {
        struct Header: Decodable { var kid: String? }
        return mock.requests(to: .plansChanged).dropFirst(count).map { request -> String? in
            let token = request.header("Authorization")?.dropFirst("Bearer ".count) ?? ""
            var text = String(token.prefix { $0 != "." }).replacing("-", with: "+").replacing("_", with: "/")
            while text.count % 4 != 0 { text += "=" }
            guard let header = Data(base64Encoded: text) else { return nil }
            return try? JSONDecoder().decode(Header.self, from: header).kid
        }
    }

    /// Waits for that many more polls.
    fileprivate func polls(_ count: Int) async throws {
        try await mock.waitForRequests(mock.requestCount(of: .plansChanged) + count, to: .plansChanged)
    }

    /// The newest active key.
    fileprivate func active() async throws -> String? {
        struct Report: Decodable {
            struct Key: Decodable { let kid, state: String }
            let signing_keys: [Key]
        }
        let listed = try await keys("list", "--json")
        let report = try JSONDecoder().decode(Report.self, from: Data(listed.output.utf8))
        return report.signing_keys.first { $0.state == "active" }?.kid
    }
}
