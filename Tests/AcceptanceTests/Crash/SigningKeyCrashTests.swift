import Foundation
import MockEndorser
import Testing

/// A kill -9 before any write of a rotation or an import of a signing key, or in the middle of one, loses no key and leaves
/// none readable.
@Suite(.serialized) struct SigningKeyCrashTests {
    private static let secret = "CANARYSECRET0123456789abcdefghij"

    /// A server that takes tokens of the secret, and an encrypted database with an agent's files.
    private func world() async throws -> Sealed {
        var options = MockServerOptions()
        options.planCount = 20
        options.requestsPerMinute = nil
        options.auth = .sharedSecret(Array(Self.secret.utf8))
        let mock = MockServer(options: options)
        try await mock.start()
        let world = Sealed(try await AgentWorld(.canonical, mock: mock, isEncrypted: true))
        try world.crash.write { $0.auth = "kind: shared_secret\n  stored_keys: true" }
        try world.workspace.write(Self.secret + "\n", to: "secret")
        return world
    }

    @Test func aRotationThatEndsBeforeAnyOfItsWritesIsFinishedByTheNext() async throws {
        let world = try await world()
        let (path, file) = (world.workspace.path("secret"), world.workspace.path("new.secret"))
        let imported = try await world.keys(["import", "--file", path])
        #expect(imported.status == 0, "\(imported.errors)")
        #expect(try await world.polls())
        try world.keep()
        let writes = try await world.writes(of: "rotate", "--signing", "--to", file)
        var (kills, resumed) = (0, 0)
        for (point, isTorn) in CrashPointTests.deaths(of: writes, atMost: 16) {
            let what: Comment = "killed at write \(point) of \(writes), torn: \(isTorn)"
            try world.restore()
            world.mock.setAuth(.sharedSecret(Array(Self.secret.utf8)))
            let killed = try await world.keys(
                ["rotate", "--signing", "--to", file],
                environment: FaultLibrary.dying(at: point, isTorn: isTorn)
            )
            if killed.status == SIGKILL { kills += 1 }
            // The server does not know a new key yet.
            #expect(try await world.polls(), what)
            let isComplete =
                FileManager.default.fileExists(atPath: file)
                && !FileManager.default.fileExists(atPath: file + ".next")
            let again = try await world.keys(["rotate", "--signing", "--to", file])
            if isComplete {
                #expect(again.status == 1 && again.errors.contains("exists already"), what)
            } else {
                #expect(again.status == 0, "\(again.errors)")
                resumed += 1
            }
            let new = try String(contentsOfFile: file, encoding: .utf8).filter { $0 != "\n" }
            #expect(new.wholeMatch(of: /[0-9a-f]{64}/) != nil, what)
            let mode = try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? Int
            #expect(mode == 0o600, what)
            let states = try Database.strings(world.database, "SELECT state FROM signing_keys ORDER BY state")
            #expect(states == ["active", "retiring"], what)
            let left = try FileManager.default.contentsOfDirectory(atPath: world.workspace.url.path)
            #expect(left.filter { $0.hasPrefix("new.secret") } == ["new.secret"], what)
            world.mock.setAuth(.sharedSecret(Array(new.utf8)))
            #expect(try await world.polls(), what)
            #expect(try await world.keys(["verify"]).status == 0, what)
            for secret in [new, Self.secret] { #expect(try !world.isReadable(secret), what) }
        }
        #expect(kills > 5 && resumed > 3)
        try await world.mock.stop()
    }

    @Test func anImportThatEndsBeforeAnyOfItsWritesIsFinishedByTheNext() async throws {
        let world = try await world()
        let path = world.workspace.path("secret")
        // Without a key the agent starts, and says what is missing.
        let without = try await world.crash.cycle()
        #expect(without.output.contains("skipped (no_token)") && without.errors.contains("keys import"), "\(without)")
        try world.keep()
        let writes = try await world.writes(of: "import", "--file", path)
        for (point, isTorn) in CrashPointTests.deaths(of: writes, atMost: 10) {
            let what: Comment = "killed at write \(point) of \(writes), torn: \(isTorn)"
            try world.restore()
            _ = try await world.keys(
                ["import", "--file", path],
                environment: FaultLibrary.dying(at: point, isTorn: isTorn)
            )
            #expect(try await world.keys(["import", "--file", path]).status == 0, what)
            #expect(try Database.strings(world.database, "SELECT state FROM signing_keys") == ["active"], what)
            #expect(try await world.polls(), what)
            #expect(try !world.isReadable(Self.secret), what)
        }
        try await world.mock.stop()
    }
}

extension Sealed {
    /// Whether a poll ran, and the server took its token.
    fileprivate func polls() async throws -> Bool {
        let result = try await crash.cycle()
        return result.status == 0 && !result.output.contains("skipped")
    }

    /// Whether a secret is in the database's files, as it is, in base64 or in hexadecimal digits.
    func isReadable(_ secret: String) throws -> Bool {
        let bytes = Array(secret.utf8)
        let base64 = Data(bytes).base64EncodedString().filter { $0 != "=" }.dropLast(2)
        let digits = bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
        let raw = stride(from: 0, to: bytes.count - 1, by: 2).compactMap { index in
            UInt8(secret.dropFirst(index).prefix(2), radix: 16)
        }
        let forms = [Data(bytes), Data(base64.utf8), Data(digits.utf8)] + (raw.count == 32 ? [Data(raw)] : [])
        for suffix in ["", "-wal", "-shm", "-journal"] {
            guard let data = FileManager.default.contents(atPath: database + suffix) else { continue }
            for form in forms where data.range(of: form) != nil { return true }
        }
        return false
    }
}
