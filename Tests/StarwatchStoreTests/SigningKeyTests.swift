import FoundationEssentials
import GRDB
import StarwatchCore
import Testing

@testable import StarwatchStore

/// The keys that sign tokens.
struct SigningKeyTests {
    let world = World()
    let master = MasterKey()
    private static let secret = Array("canarysecret of thirty-two bytes".utf8)

    private func open() async throws -> Store {
        try await world.open { $0.masterKey = master }
    }

    private func key(_ kid: String, _ secret: [UInt8] = secret, after seconds: Int64 = 0) -> SigningKey {
        SigningKey(kid: kid, algorithm: .hs256, secret: secret, createdAt: world.now + .seconds(seconds))
    }

    private func add(
        _ store: Store,
        _ key: SigningKey,
        _ grace: SigningGrace = .normal
    ) async throws -> SigningKeyAddition {
        try await store.keys.addSigningKey(key, of: World.alice, grace: grace)
    }

    private func states(_ store: Store) async throws -> [String: SigningKeyState] {
        Dictionary(uniqueKeysWithValues: try await store.keys.report().signingKeys.map { ($0.kid, $0.state) })
    }

    /// Whether the secret is in the files of the database, as bytes, in base64 or in hexadecimal digits.
    private func isReadable(_ secret: [UInt8] = secret) throws -> Bool {
        let digits = secret.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
        let base64 = Data(secret).base64EncodedString().filter { $0 != "=" }
        let forms = [Data(secret), Data(digits.utf8), Data(digits.uppercased().utf8), Data(base64.dropLast(2).utf8)]
        for suffix in ["", "-wal", "-shm", "-journal"] {
            guard let data = try? Data(contentsOf: URL(fileURLWithPath: world.path + suffix)) else { continue }
            for form in forms where data.firstRange(of: form) != nil { return true }
        }
        return false
    }

    @Test func aKeyIsStoredEncryptedAndReadBack() async throws {
        var store = try await open()
        #expect(try await add(store, key("one")) == .added)
        #expect(try await store.keys.signingKeys(of: World.alice) == [key("one")])
        #expect(try !isReadable())
        await store.close()
        #expect(try !isReadable())
        store = try Store(world.options(master))
        #expect(try await store.keys.signingKeys(of: World.alice) == [key("one")])
        #expect(try await store.keys.verify().failed == 0)
    }

    /// The search finds what it looks for.
    @Test func aReadableSecretIsFound() throws {
        let base64 = Data(Self.secret).base64EncodedData()
        let digits = Self.secret.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
        for form in [Data(Self.secret), base64, Data(digits.utf8)] {
            try form.write(to: URL(fileURLWithPath: world.path + "-wal"))
            #expect(try isReadable())
        }
    }

    @Test func aClearDatabaseTakesNoKey() async throws {
        let store = try await world.open { $0.masterKey = nil }
        await #expect(throws: StoreError.sealed(.notEncrypted)) { try await add(store, key("one")) }
        #expect(try await store.keys.signingKeys(of: World.alice).isEmpty)
    }

    @Test func aNewKeyRetiresTheFormerOneFor7Days() async throws {
        let store = try await open()
        _ = try await add(store, key("one"))
        #expect(try await add(store, key("two", [2], after: 60)) == .added)
        #expect(try await add(store, key("three", [3], after: 120)) == .added)
        let keys = try await store.keys.signingKeys(of: World.alice)
        #expect(keys.map(\.kid) == ["three", "two", "one"])
        #expect(
            keys.map(\.endsAt) == [nil, world.now + .seconds(7 * 86_400 + 120), world.now + .seconds(7 * 86_400 + 60)]
        )
        #expect(try await states(store) == ["one": .retiring, "two": .retiring, "three": .active])
    }

    /// R-SEC-04: former keys are kept for an hour and sign nothing more.
    @Test func anEmergencyEndsEveryFormerKeyWithinAnHour() async throws {
        let store = try await open()
        _ = try await add(store, key("one"))
        _ = try await add(store, key("two", [2], after: 60))
        #expect(try await add(store, key("three", [3], after: 120), .emergency) == .added)
        #expect(try await store.keys.signingKeys(of: World.alice).map(\.kid) == ["three"])
        let end = world.now + .seconds(3600 + 120)
        let entries = try await store.keys.report().signingKeys
        #expect(entries.map(\.kid) == ["three", "two", "one"])
        #expect(entries.map(\.endsAt) == [nil, end, end])
        // A key that follows does not let them sign again.
        _ = try await add(store, key("four", [4], after: 180))
        #expect(try await store.keys.signingKeys(of: World.alice).map(\.kid) == ["four", "three"])
    }

    @Test func aNameIsNeverUsedAgain() async throws {
        let store = try await open()
        _ = try await add(store, key("one"))
        // A repetition, as after an answer that was lost.
        #expect(try await add(store, key("one")) == .known)
        #expect(try await add(store, key("one", [9])) == .kidUsed)
        _ = try await add(store, key("two", [2]))
        #expect(try await add(store, key("one")) == .kidUsed)
        #expect(try await store.keys.revokeSigningKey("one", isForced: false, now: world.now) == .revoked)
        #expect(try await add(store, key("one")) == .kidUsed)
        _ = try await store.identity.set(World.bob, server: World.server, now: world.now)
        #expect(try await store.keys.addSigningKey(key("two", [2]), of: World.bob, grace: .normal) == .kidUsed)
        #expect(try await states(store) == ["one": .revoked, "two": .active])
    }

    @Test func aRepeatedEmergencyStillEndsTheFormerKey() async throws {
        let store = try await open()
        _ = try await add(store, key("one"))
        _ = try await add(store, key("two", [2]))
        #expect(try await add(store, key("two", [2]), .emergency) == .known)
        #expect(try await store.keys.signingKeys(of: World.alice).map(\.kid) == ["two"])
    }

    @Test func aRevokedKeyIsDestroyedAtOnce() async throws {
        let store = try await open()
        _ = try await add(store, key("one"))
        let sealed = try await store.direct(.read) { db in
            try db.value("SELECT secret FROM signing_keys") ?? [UInt8]()
        }
        try await store.status.checkpoint()
        #expect(try isReadable(sealed))
        #expect(try await store.keys.revokeSigningKey("one", isForced: false, now: world.now) == .active)
        #expect(try await store.keys.revokeSigningKey("other", isForced: true, now: world.now) == .unknown)
        #expect(try await store.keys.signingKeys(of: World.alice).count == 1)
        #expect(try await store.keys.revokeSigningKey("one", isForced: true, now: world.now) == .revoked)
        #expect(try await store.keys.revokeSigningKey("one", isForced: true, now: world.now) == .revokedBefore)
        #expect(try await store.keys.signingKeys(of: World.alice).isEmpty)
        // Not even its ciphertext is left.
        #expect(try !isReadable(sealed))
        #expect(try await store.keys.report().signingKeys.map(\.endsAt) == [world.now])
        #expect(try await store.keys.verify().failed == 0)
    }

    @Test func aKeyIsDestroyedAfterItsGraceAndNotBefore() async throws {
        let store = try await open()
        _ = try await add(store, key("one"))
        _ = try await add(store, key("two", [2]))
        let end = world.now + .seconds(7 * 86_400)
        #expect(try await store.keys.endSigningKeys(now: end - .milliseconds(1)) == 0)
        #expect(try await states(store)["one"] == .retiring)
        #expect(try await store.keys.endSigningKeys(now: end) == 1)
        #expect(try await store.keys.endSigningKeys(now: end) == 0)
        #expect(try await states(store) == ["one": .revoked, "two": .active])
        #expect(try await store.keys.signingKeys(of: World.alice).map(\.kid) == ["two"])
    }

    @Test func aKeyBelongsToOneIdentityAndIsErasedWithIt() async throws {
        let store = try await open()
        _ = try await add(store, key("one"))
        #expect(try await store.keys.addSigningKey(key("two"), of: World.bob, grace: .normal) == .notActive)
        _ = try await store.identity.set(World.bob, server: World.server, now: world.now)
        #expect(try await store.keys.signingKeys(of: World.bob).isEmpty)
        #expect(try await add(store, key("three")) == .notActive)
        #expect(try await store.identity.eraseAccount(World.alice) == .erased(isPurged: true))
        #expect(try await states(store).isEmpty)
    }

    @Test func keysSurviveARotationOfTheDataKeysAndOfTheMasterKey() async throws {
        var store = try await open()
        _ = try await add(store, key("one"))
        _ = try await add(store, key("two", [2]))
        _ = try await store.keys.revokeSigningKey("one", isForced: false, now: world.now)
        _ = try await store.keys.replaceDataKeys()
        while try await !store.keys.reseal().isFinished {}
        let next = MasterKey()
        try await store.keys.changeMasterKey(to: next)
        await store.close()
        store = try Store(world.options(next))
        #expect(try await store.keys.signingKeys(of: World.alice).map(\.secret) == [[2]])
    }

    @Test func aDatabaseWithKeysIsDecryptedOnlyByForce() async throws {
        var store = try await open()
        _ = try await add(store, key("one"))
        _ = try await add(store, key("two", [2]))
        await #expect(throws: StoreError.sealed(.signingKeys)) { try await store.keys.decrypt() }
        #expect(try await states(store) == ["one": .retiring, "two": .active])
        _ = try await store.keys.revokeSigningKey("one", isForced: false, now: world.now)
        _ = try await store.keys.decrypt(isForced: true)
        #expect(try !isReadable())
        // The names stay used.
        _ = try await store.keys.encrypt(with: master)
        #expect(try await add(store, key("one")) == .kidUsed)
        await store.close()
        store = try Store(world.options(master))
        #expect(try await states(store) == ["one": .revoked])
        _ = try await store.keys.decrypt()
    }

    @Test func aKeyThatWasMovedToAnotherNameDoesNotOpen() async throws {
        var store = try await open()
        _ = try await add(store, key("one"))
        await store.close()
        try await DatabaseQueue(path: world.path).write { db in
            try db.execute(sql: "UPDATE signing_keys SET kid = 'other'")
        }
        store = try Store(world.options(master))
        await #expect(throws: StoreError.sealed(.damaged)) { try await store.keys.signingKeys(of: World.alice) }
        #expect(try await store.keys.verify().faults.map(\.column) == ["signing_keys.secret"])
    }
}

extension World {
    fileprivate func options(_ key: MasterKey) -> StoreOptions {
        var options = options()
        options.masterKey = key
        return options
    }
}
