import Foundation
import StarwatchCore
import Testing

@testable import StarwatchStore

@Suite struct FeedTests {
    let world = World()

    private func append(
        _ store: Store,
        _ tokens: String...,
        of account: DID = World.alice,
        keep: Int = 100
    ) async throws {
        for token in tokens {
            try await store.feed.append(token, payload: Array(token.utf8), of: account, keep: keep, now: world.now)
        }
    }

    private func all(_ store: Store, of account: DID = World.alice) async throws -> [String] {
        tokens(try await store.feed.list(of: account, before: nil, limit: 10))
    }

    private func tokens(_ rows: [FeedRow]) -> [String] { rows.map { String(decoding: $0.payload, as: UTF8.self) } }

    @Test func notificationsAreKeptOnceAndTheOldestAreDropped() async throws {
        let store = try await world.open()
        try await append(store, "a", "b", "a", "c", "d", "d", keep: 3)
        let rows = try await store.feed.list(of: World.alice, before: nil, limit: 10)
        #expect(tokens(rows) == ["d", "c", "b"])
        #expect(rows.map(\.sequence) == [4, 3, 2])
        #expect(rows[0].storedAt == world.now)
        #expect(tokens(try await store.feed.list(of: World.alice, before: 4, limit: 1)) == ["c"])
        #expect(tokens(try await store.feed.list(of: World.alice, after: 2, limit: 10)) == ["c", "d"])
        #expect(tokens(try await store.feed.list(of: World.alice, after: 0, limit: 2)) == ["b", "c"])
    }

    @Test func sequencesRiseAcrossRestartsAndWhenEmpty() async throws {
        var store: Store? = try await world.open()
        #expect(try await store!.feed.latestSequence(of: World.alice) == 0)
        try await append(store!, "a", "b")
        try await store!.feed.trim(keep: 0)
        await store!.close()
        store = nil
        store = try await world.open()
        #expect(try await store!.feed.latestSequence(of: World.alice) == 2)
        try await append(store!, "c")
        #expect(try await store!.feed.list(of: World.alice, before: nil, limit: 10).map(\.sequence) == [3])
    }

    @Test func aChangeOfIdentityEmptiesTheFeedForGood() async throws {
        let store = try await world.open()
        try await append(store, "ntf_0")
        try await world.commit(store, world.changes(1...1))
        let notification = try #require(try await world.claim(store))
        _ = try await store.identity.set(World.bob, server: World.server, now: world.now)
        try await append(store, notification.id)
        #expect(try await all(store).isEmpty)
        // A follower of the active identity's feed continues from its position.
        try await append(store, "b", of: World.bob)
        #expect(try await store.feed.list(of: World.bob, after: 1, limit: 10).map(\.sequence) == [2])
        _ = try await store.identity.set(World.alice, server: World.server, now: world.now)
        try await append(store, notification.id)
        #expect(try await all(store) == [notification.id])
        #expect(try await store.feed.latestSequence(of: World.alice) == 3)
        #expect(try await all(store, of: World.bob).isEmpty)
    }

    /// A follower of the active identity's feed would otherwise miss the first notifications of the next one.
    @Test func sequencesDoNotRepeatAfterTheOnlyAccountIsErased() async throws {
        let store = try await world.open()
        try await append(store, "a", "b")
        for (account, expected) in [(World.bob, [3]), (World.alice, [4])] as [(DID, [Int64])] {
            let former = account == World.bob ? World.alice : World.bob
            _ = try await store.identity.set(nil, server: World.server, now: world.now)
            #expect(try await store.identity.eraseAccount(former) != .unknown)
            _ = try await store.identity.set(account, server: World.server, now: world.now)
            try await append(store, "of \(account)", of: account)
            #expect(try await store.feed.list(of: account, before: nil, limit: 10).map(\.sequence) == expected)
        }
    }

    @Test func onlyFeedsThatAreTooLongAreWritten() async throws {
        let witness = Witness()
        let store = try await world.open { $0.observer = witness }
        try await append(store, "a", "b")
        let before = witness[StoreOperation.edit.rawValue]
        try await store.feed.trim(keep: 2)
        #expect(witness[StoreOperation.edit.rawValue] == before)
        try await store.feed.trim(keep: 1)
        #expect(witness[StoreOperation.edit.rawValue] == before + 1)
        #expect(try await all(store) == ["b"])
    }

    @Test func manyLongFeedsAreNotOneTransaction() async throws {
        let witness = Witness()
        var options = world.options()
        options.masterKey = MasterKey()
        options.observer = witness
        let (store, now) = (try Store(options), world.now)
        let dids = (0...100).map { DID("did:ethr:0x\($0)")! }
        _ = try await store.accounts.add(dids.map { AccountDraft(did: $0) }, server: World.server, now: now) { _ in now
        }
        for (index, did) in dids.enumerated() { try await append(store, "ntf_\(index)", of: did) }
        let before = witness[StoreOperation.edit.rawValue]
        try await store.feed.trim(keep: 0)
        #expect(witness[StoreOperation.edit.rawValue] == before + 2)
        for did in dids { #expect(try await all(store, of: did).isEmpty) }
    }

    @Test func retentionDeletesRowsOlderThanAMonth() async throws {
        let store = try await world.open()
        try await append(store, "a")
        world.now = world.now + .days(1)
        try await append(store, "b")
        _ = try await store.retention.apply(RetentionPolicy(), now: world.now + .days(29) + .seconds(1))
        #expect(try await all(store) == ["b"])
    }

    // MARK: - Many accounts

    private static let secrets = ["0", "1", "2"].map { String(repeating: $0, count: 32) }

    /// An encrypted database that serves both accounts.
    private func openMany() async throws -> Store {
        var options = world.options()
        options.masterKey = MasterKey()
        let (store, now) = (try Store(options), world.now)
        let drafts = [World.alice, World.bob].map { AccountDraft(did: $0) }
        _ = try await store.accounts.add(drafts, server: World.server, now: now) { _ in now }
        return store
    }

    /// The account that each of the secrets opens.
    private func owners(_ store: Store) async throws -> [DID?] {
        var owners: [DID?] = []
        for secret in Self.secrets { owners.append(try await store.feed.owner(of: secret)?.account) }
        return owners
    }

    @Test func theFloodOfAnAccountRemovesNothingOfAnothers() async throws {
        let store = try await openMany()
        try await append(store, "a1", "a2", keep: 3)
        for number in 0..<10 { try await append(store, "b\(number)", of: World.bob, keep: 3) }
        #expect(try await all(store) == ["a2", "a1"])
        #expect(try await all(store, of: World.bob) == ["b9", "b8", "b7"])
        // Nor do its numbers tell how many others got.
        try await append(store, "a3")
        #expect(try await store.feed.latestSequence(of: World.alice) == 3)
        try await store.feed.trim(keep: 1)
        #expect(try await [all(store), all(store, of: World.bob)] == [["a3"], ["b9"]])
    }

    @Test func aTokenIsMadeOnceAndAReplacedOneOpensNothing() async throws {
        let store = try await openMany()
        let (alice, first) = (World.alice, Self.secrets[0])
        #expect(try await store.feed.token(of: alice, new: first, replaces: false) == first)
        #expect(try await store.feed.token(of: alice, new: Self.secrets[1], replaces: false) == first)
        #expect(try await store.feed.token(of: World.bob, new: Self.secrets[2], replaces: false) == Self.secrets[2])
        #expect(try await owners(store) == [alice, nil, World.bob])
        #expect(try await store.feed.token(of: alice, new: Self.secrets[1], replaces: true) == Self.secrets[1])
        #expect(try await owners(store) == [nil, alice, World.bob])
        #expect(try await store.feed.owner(of: "") == nil)
        // Of a paused account the address stays.
        _ = try await store.accounts.set(.paused, of: alice, now: world.now)
        #expect(try await owners(store) == [nil, alice, World.bob])
        let unknown = DID("did:ethr:0xcarol")!
        #expect(try await store.feed.token(of: unknown, new: Self.secrets[0], replaces: false) == nil)
    }

    @Test func theDatabaseHasNoTokenInClearForm() async throws {
        let store = try await openMany()
        _ = try await store.feed.token(of: World.alice, new: Self.secrets[0], replaces: false)
        await store.close()
        let file = String(decoding: try Data(contentsOf: URL(filePath: world.path)), as: Unicode.ASCII.self)
        #expect(!file.contains(Self.secrets[0]))
    }

    @Test(arguments: [false, true])
    func aRemovedAccountLeavesNeitherRowsNorAddress(isErased: Bool) async throws {
        let store = try await openMany()
        _ = try await store.feed.token(of: World.alice, new: Self.secrets[0], replaces: false)
        _ = try await store.feed.token(of: World.bob, new: Self.secrets[1], replaces: false)
        try await append(store, "a")
        try await append(store, "b", of: World.bob)
        if isErased {
            _ = try await store.identity.eraseAccount(World.alice)
            let left = try await store.direct(.read) { db in
                let key = db.key(World.alice)
                return try db.integer(
                    "SELECT (SELECT count(*) FROM feed WHERE account = ?1) + (SELECT count(*) FROM feeds WHERE account = ?1)",
                    [key]
                )
            }
            #expect(left == 0)
        } else {
            _ = try await store.accounts.remove(World.alice, now: world.now)
        }
        // A delivery that ended later.
        try await append(store, "late")
        #expect(try await all(store).isEmpty)
        #expect(try await owners(store) == [nil, World.bob, nil])
        #expect(try await all(store, of: World.bob) == ["b"])
        try await #expect(store.keys.verify().failed == 0)
    }

    @Test(arguments: [true, false])
    func theFeedMovesWithItsAccount(isMany: Bool) async throws {
        let from = try await openMany()
        _ = try await from.feed.token(of: World.alice, new: Self.secrets[0], replaces: false)
        try await append(from, "a", "b", "c", keep: 2)
        guard case .text(let text, _, _, _) = try await from.moves.handOut(World.alice, isTrial: false, now: world.now)
        else {
            Issue.record("nothing was handed out")
            return
        }
        #expect(try await owners(from) == [nil, nil, nil])
        #expect(try await all(from).isEmpty)

        let place = World()
        var options = place.options()
        options.masterKey = MasterKey()
        let to = try Store(options)
        let destination = AccountDestination(
            server: World.server,
            sinks: [],
            addressed: [],
            pseudonym: isMany ? "p" : nil
        )
        let arrival = try await to.moves.take(
            AccountBundle(text: text),
            of: World.alice,
            into: destination,
            isTrial: false,
            now: place.now,
            dueAt: place.now
        )
        #expect(arrival == .arrived)
        #expect(try await to.feed.list(of: World.alice, before: nil, limit: 10).map(\.sequence) == [3, 2])
        // An agent for one account has no use for it.
        #expect(try await owners(to) == [isMany ? World.alice : nil, nil, nil])
        try await append(to, "d")
        #expect(try await to.feed.latestSequence(of: World.alice) == 4)
        try await #expect(to.keys.verify().failed == 0)
    }
}
