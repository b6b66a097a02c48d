import FoundationEssentials
import GRDB
import StarwatchCore
import Testing

@testable import StarwatchStore

/// The addresses that accounts bring for sinks.
@Suite struct SinkAddressTests {
    let world = World()
    let master = MasterKey()
    private let address = SinkAddress(url: "https://example.org/canaryurl", secret: "canarysecret")

    private func open() throws -> Store {
        var options = world.options()
        options.masterKey = master
        return try Store(options)
    }

    private func add(
        _ store: Store,
        _ sinks: [String: SinkAddress?],
        of did: DID = World.alice
    ) async throws -> AccountAddition {
        var draft = AccountDraft(did: did)
        draft.sinks = sinks
        let now = world.now
        return try await store.accounts.add([draft], server: World.server, now: now) { _ in now }[0]
    }

    private func isReadable() -> Bool {
        ["", "-wal"].compactMap { try? Data(contentsOf: URL(filePath: world.path + $0)) }.contains { data in
            ["canaryurl", "canarysecret"].contains { data.firstRange(of: Data($0.utf8)) != nil }
        }
    }

    @Test func anAddressIsSealedAndOpensAgain() async throws {
        var store = try open()
        #expect(try await add(store, ["hook": address]) == .added)
        #expect(!isReadable())
        await store.close()
        #expect(!isReadable())
        store = try open()
        let stored = try await store.accounts.sinks(of: World.alice)
        #expect(stored.map(\.sink) == ["hook"] && stored[0].address == address && !stored[0].isGone)
        #expect(try await store.accounts.sinks(of: World.bob).isEmpty)
        #expect(try await store.keys.verify().failed == 0)
    }

    @Test func onlyAnotherAddressIsAChange() async throws {
        let store = try open()
        _ = try await add(store, ["hook": address])
        #expect(try await add(store, ["hook": address]) == .unchanged)
        #expect(try await add(store, [:]) == .unchanged)
        #expect(try await add(store, ["phone": nil]) == .unchanged)
        #expect(try await add(store, ["hook": SinkAddress(url: "https://example.org")]) == .changed)
        #expect(try await add(store, ["hook": nil]) == .changed)
        #expect(try await store.accounts.sinks(of: World.alice).isEmpty)
    }

    @Test func anAddressThatWasMovedToAnotherAccountDoesNotOpen() async throws {
        let store = try open()
        _ = try await add(store, ["hook": address])
        _ = try await add(store, ["hook": SinkAddress(url: "https://example.org/bob")], of: World.bob)
        let (alice, bob) = (try await store.key(of: World.alice), try await store.key(of: World.bob))
        try await DatabaseQueue(path: world.path).write { db in
            try db.execute(
                sql: """
                    UPDATE account_sinks SET address = (SELECT address FROM account_sinks WHERE account = ?)
                    WHERE account = ?
                    """,
                arguments: [alice, bob]
            )
        }
        let stored = try await store.accounts.sinks(of: World.bob)
        #expect(stored.map(\.sink) == ["hook"] && stored[0].address == nil && !stored[0].isGone)
        #expect(try await store.keys.verify().faults.map(\.column) == ["account_sinks.address"])
    }

    @Test func aGoneAddressIsUsedAgainOnceItIsAdded() async throws {
        let store = try open()
        _ = try await add(store, ["hook": address])
        var other = address
        other[.url] = "https://old.test/hook"
        try await store.accounts.noteGone(other, at: "hook", of: World.alice, now: world.now)
        #expect(try await store.accounts.account(World.alice)?.sinks == ["hook": .set], "of a replaced one")
        try await store.accounts.noteGone(address, at: "hook", of: World.alice, now: world.now)
        #expect(try await store.accounts.account(World.alice)?.sinks == ["hook": .gone])
        #expect(try await store.accounts.counts(now: world.now, addressed: ["hook"]).unreachable == 1)
        #expect(try await add(store, ["hook": address]) == .changed)
        #expect(try await store.accounts.account(World.alice)?.sinks == ["hook": .set])
        #expect(try await store.accounts.counts(now: world.now, addressed: ["hook"]).unreachable == 0)
        #expect(try await store.accounts.counts(now: world.now, addressed: ["phone"]).unreachable == 1)
        #expect(try await store.accounts.counts(now: world.now).unreachable == 0)
    }

    @Test(.enabled(if: World.isClear)) func aClearDatabaseTakesNone() async throws {
        let store = try Store(world.options())
        await #expect(throws: StoreError.sealed(.notEncrypted)) { try await add(store, ["hook": address]) }
        #expect(try await store.accounts.list(after: nil, limit: 9) == [])
    }

    @Test func aDatabaseWithAddressesIsDecryptedOnlyByForce() async throws {
        let store = try open()
        _ = try await add(store, ["hook": address])
        await #expect(throws: StoreError.sealed(.sinkAddresses)) { try await store.keys.decrypt() }
        _ = try await store.keys.decrypt(isForced: true)
        #expect(try await store.accounts.sinks(of: World.alice).isEmpty)
        #expect(try await store.accounts.list(after: nil, limit: 9).map(\.did) == [World.alice])
        #expect(!isReadable())
    }
}
