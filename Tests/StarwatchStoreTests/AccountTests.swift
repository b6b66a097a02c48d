import Foundation
import GRDB
import StarwatchCore
import Testing

@testable import StarwatchStore

/// Accounts that are served beside the active identity, or without one.
@Suite struct AccountTests {
    let world = World()

    private func store(_ dids: [DID] = [], stars: [String]? = nil) async throws -> Store {
        let store = try Store(world.options())
        _ = try await add(store, dids.map { AccountDraft(did: $0, stars: stars) })
        return store
    }

    private func add(
        _ store: Store,
        _ drafts: [AccountDraft],
        server: String = World.server
    ) async throws -> [AccountAddition] {
        let now = world.now
        return try await store.accounts.add(drafts, server: server, now: now) { did in
            did == World.alice ? now + .seconds(1) : now + .seconds(2)
        }
    }

    /// Every stored text that is the account.
    private func traces(of did: DID, _ store: Store) async throws -> [String] {
        let key = try await store.key(of: did)
        return try await DatabaseQueue(path: world.path).read { db in
            try SealedTable.accounts.filter { table, column in
                try Int.fetchOne(db, sql: "SELECT count(*) FROM \(table) WHERE \(column) = ?", arguments: [key]) != 0
            }.map(\.table)
        }
    }

    // MARK: - Adding

    @Test func addingSaysWhatItChangedAndRepeatingItChangesNothing() async throws {
        let store = try await store()
        let drafts = [AccountDraft(did: World.alice), AccountDraft(did: World.bob, stars: ["p", "q", "p"])]
        #expect(try await add(store, drafts) == [.added, .added])
        let before = try await store.accounts.list(after: nil, limit: 9)
        #expect(try await add(store, drafts) == [.unchanged, .unchanged])
        #expect(try await store.accounts.list(after: nil, limit: 9) == before)
        #expect(try await store.stars.list(of: World.bob) == ["p", "q"])
        let bob = try #require(try await store.accounts.account(World.bob))
        #expect(bob.stars == 2 && bob.status == .active && !bob.isLeased && bob.addedAt == world.now)
        #expect(bob.dueAt == world.now + .seconds(2))
        #expect(try await store.accounts.account(World.alice)?.dueAt == world.now + .seconds(1))
    }

    @Test func otherStarsOrAnotherServerAreAChangeAndEndACycleInFlight() async throws {
        let store = try await store([World.alice], stars: ["p"])
        let first = try await store.identity.active(of: World.alice)
        #expect(try await add(store, [AccountDraft(did: World.alice, stars: ["q"])]) == [.changed])
        let second = try await store.identity.active(of: World.alice)
        #expect(second.did == World.alice && second.generation > first.generation)
        #expect(try await store.stars.list(of: World.alice) == ["q"])
        let elsewhere = "https://other.example"
        #expect(try await add(store, [AccountDraft(did: World.alice)], server: elsewhere) == [.changed])
        #expect(try await add(store, [AccountDraft(did: World.alice)], server: elsewhere) == [.unchanged])
        #expect(try await store.stars.list(of: World.alice) == ["q"])
    }

    @Test func anEmptyListOfStarsRemovesThem() async throws {
        let store = try await store([World.alice], stars: ["p"])
        #expect(try await add(store, [AccountDraft(did: World.alice, stars: [])]) == [.changed])
        #expect(try await store.accounts.account(World.alice)?.stars == 0)
    }

    /// Otherwise moving a single agent to many accounts would lose changes or announce them twice.
    @Test func theActiveIdentityIsHandedOverWithItsPollsAndOpenRows() async throws {
        let store = try await world.open()
        try await world.commit(store, world.changes(1...3))
        let before = try await store.polls.state(world.stream, maxUndelivered: 1000)
        #expect(try await add(store, [AccountDraft(did: World.alice)]) == [.added])
        #expect(try await store.identity.active().did == nil)
        let after = try await store.polls.state(world.stream, maxUndelivered: 1000)
        #expect(after.isActive && after.generation > before.generation && after.openRows == 3)
        #expect(after.fetchCursor == before.fetchCursor && after.fetchCursor != nil)
        let stale = try await world.commit(store, world.changes(4...4)) { $0.expectedGeneration = before.generation }
        #expect(stale == nil)
        #expect(try await world.commit(store, world.changes(4...4))?.inserted == 1)
    }

    @Test func anAccountThatSignsInIsServedNoLonger() async throws {
        let store = try await store([World.alice])
        let served = try await store.identity.active(of: World.alice)
        let change = try await store.identity.set(World.alice, server: World.server, now: world.now)
        #expect(change.identity.did == World.alice && change.identity.generation > served.generation)
        #expect(try await store.accounts.account(World.alice) == nil)
        #expect(try await store.identity.active(of: World.alice) == change.identity)
    }

    @Test func pagesHaveEveryAccountOnce() async throws {
        let dids = (0..<25).map { DID("did:ethr:0x\($0)")! }
        let store = try await store(dids)
        var found: [StoredAccount] = []
        while true {
            let page = try await store.accounts.list(after: found.last?.did, limit: 10)
            found += page
            if page.count < 10 { break }
        }
        #expect(found.count == 25 && Set(found.map(\.did)) == Set(dids))
        #expect(try await store.accounts.account(found[7].did) == found[7])
    }

    @Test func tenThousandAccountsAreAddedInOneTransaction() async throws {
        let drafts = (0..<10_000).map { AccountDraft(did: DID("did:ethr:0x\($0)")!, stars: ["plan \($0 % 2000)"]) }
        let witness = Witness()
        var options = world.options()
        options.observer = witness
        let store = try Store(options)
        #expect(try await add(store, drafts) == [AccountAddition](repeating: .added, count: 10_000))
        #expect(witness["identity"] == 1)
        let counts = try await store.accounts.counts(now: world.now + .seconds(2))
        #expect(counts.active == 10_000 && counts.due == 10_000 && counts.paused == 0 && counts.leased == 0)
        #expect(counts.oldestDue == world.now + .seconds(2))
    }

    // MARK: - Pausing

    @Test func aPauseEndsACycleInFlightAndWorkBeginsAgainWithTheResumption() async throws {
        let store = try await store([World.alice])
        try await world.commit(store, world.changes(1...3))
        let state = try await store.polls.state(world.stream, maxUndelivered: 1000)
        let paused = try #require(try await store.accounts.set(.paused, of: World.alice, now: world.now))
        #expect(paused.status == .paused && paused.generation > state.generation)
        let stale = try await world.commit(store, world.changes(4...4)) { $0.expectedGeneration = state.generation }
        #expect(stale == nil)
        #expect(try await world.claim(store) == nil)
        #expect(try await store.identity.active(of: World.alice).did == nil)
        let idle = try await store.polls.state(world.stream, maxUndelivered: 1000)
        #expect(!idle.isActive && idle.generation == 0)

        world.now = world.now + .seconds(60)
        let resumed = try #require(try await store.accounts.set(.active, of: World.alice, now: world.now))
        #expect(resumed.generation > paused.generation && resumed.dueAt == world.now)
        #expect(try await store.accounts.set(.active, of: World.alice, now: world.now + .seconds(9)) == resumed)
        #expect(try await world.claim(store)?.tickets.count == 1)
        #expect(try await store.accounts.set(.paused, of: World.bob, now: world.now) == nil)
    }

    // MARK: - Removal

    @Test func aRemovedAccountIsNoLongerServedAndIsDeletedThirtyDaysLater() async throws {
        let store = try await store([World.alice, World.bob], stars: ["p"])
        try await world.commit(store, world.changes(1...3))
        #expect(try await store.accounts.remove(World.alice, now: world.now) == world.now)
        #expect(try await store.outboxCounts()[.pending] == 0)
        #expect(try await store.accounts.account(World.alice) == nil)
        #expect(try await store.accounts.counts(now: world.now + .days(1)).due == 1)
        // The mark keeps its date.
        #expect(try await store.accounts.remove(World.alice, now: world.now + .days(1)) == world.now)
        #expect(try await store.accounts.remove(DID("did:ethr:0xnobody")!, now: world.now) == nil)
        _ = try await store.retention.apply(RetentionPolicy(), now: world.now + .days(29))
        #expect(try await traces(of: World.alice, store).contains("settings"))
        _ = try await store.retention.apply(RetentionPolicy(), now: world.now + .days(31))
        #expect(try await traces(of: World.alice, store) == [])
        #expect(try await traces(of: World.bob, store).contains("leases"))
        try await world.expectBalanced(store)
    }

    @Test func anAccountThatReturnsLosesItsMarkAndKeepsItsStars() async throws {
        let store = try await store([World.alice], stars: ["p"])
        try await world.commit(store, world.changes(1...3))
        let former = try await store.identity.active(of: World.alice)
        _ = try await store.accounts.set(.paused, of: World.alice, now: world.now)
        _ = try await store.accounts.remove(World.alice, now: world.now)
        #expect(try await add(store, [AccountDraft(did: World.alice)]) == [.returned])
        #expect(try await store.stars.list(of: World.alice) == ["p"])
        let state = try await store.polls.state(world.stream, maxUndelivered: 1000)
        #expect(state.isActive && !state.bootstrapped && state.fetchCursor == nil)
        // Also not with the number that it had when it was paused.
        #expect(state.generation > former.generation + 1)
        #expect(try await store.accounts.remove(World.alice, now: world.now + .days(9)) == world.now + .days(9))
        #expect(try await add(store, [AccountDraft(did: World.alice)]) == [.returned])
        _ = try await store.retention.apply(RetentionPolicy(), now: world.now + .days(31))
        #expect(try await store.accounts.account(World.alice) != nil)
    }

    @Test(arguments: [false, true]) func anErasedAccountLeavesNothing(afterRemoval: Bool) async throws {
        let store = try await store([World.alice, World.bob], stars: ["p"])
        try await world.commit(store, world.changes(1...3))
        _ = try await store.accounts.claim(
            limit: 9,
            owner: "owner",
            now: world.now + .days(1),
            until: world.now,
            for: LeaseTerm(from: .zero)
        )
        if afterRemoval { _ = try await store.accounts.remove(World.alice, now: world.now) }
        #expect(try await store.identity.eraseAccount(World.alice) == .erased(isPurged: true))
        #expect(try await traces(of: World.alice, store) == [])
        #expect(try await traces(of: World.bob, store).contains("accounts"))
        #expect(try await store.identity.eraseAccount(World.alice) == .unknown)
        #expect(try await world.integrityCheck() == [])
    }

    @Test func aServedAccountIsNotMarkedAsAFormerIdentity() async throws {
        let store = try await store([World.alice])
        _ = try await store.accounts.set(.paused, of: World.alice, now: world.now)
        #expect(try await store.identity.removeAccount(World.alice, now: world.now) == .active)
    }

    /// An account that is paused for years, or that nobody changes, is not a former one.
    @Test(arguments: AccountStatus.allCases)
    func retentionLeavesServedAccounts(_ status: AccountStatus) async throws {
        let store = try await store([World.alice])
        _ = try await store.stars.set(["p"], of: World.bob, server: World.server, now: world.now)
        _ = try await store.accounts.set(status, of: World.alice, now: world.now)
        let before = try await store.accounts.account(World.alice)
        _ = try await store.retention.apply(RetentionPolicy(), now: world.now + .days(1000))
        #expect(try await store.accounts.account(World.alice) == before)
        #expect(try await traces(of: World.bob, store) == [], "the policy deletes nothing")
    }

    // MARK: - Encryption

    @Test func anEncryptedDatabaseHoldsNoAccountInClear() async throws {
        var options = world.options()
        options.masterKey = MasterKey()
        let store = try Store(options)
        _ = try await add(store, [AccountDraft(did: World.alice, stars: ["secret plan"])])
        _ = try await store.accounts.claim(
            limit: 9,
            owner: "owner",
            now: world.now + .days(1),
            until: world.now,
            for: LeaseTerm(from: .zero)
        )
        #expect(try await store.accounts.list(after: nil, limit: 9).map(\.did) == [World.alice])
        await store.close()
        #expect(try found(in: world.path) == [])
    }

    @Test(.enabled(if: World.isClear)) func encryptingAndDecryptingKeepsTheAccounts() async throws {
        let store = try await store([World.alice, World.bob], stars: ["secret plan"])
        _ = try await store.accounts.set(.paused, of: World.bob, now: world.now)
        let before = try await Set(store.accounts.list(after: nil, limit: 9))
        _ = try await store.keys.encrypt(with: MasterKey())
        #expect(try await Set(store.accounts.list(after: nil, limit: 9)) == before)
        #expect(try found(in: world.path) == [])
        _ = try await store.keys.decrypt()
        #expect(try await Set(store.accounts.list(after: nil, limit: 9)) == before)
        #expect(try await traces(of: World.alice, store).contains("leases"))
    }

    /// The texts of the accounts that the files of a database hold in clear.
    private func found(in path: String) throws -> [String] {
        let files = ["", "-wal"].compactMap { try? Data(contentsOf: URL(filePath: path + $0)) }
        return [World.alice.rawValue, World.bob.rawValue, "secret plan"].filter { text in
            files.contains { $0.range(of: Data(text.utf8)) != nil }
        }
    }
}

extension Store {
    /// The stored form of an account.
    func key(of account: DID) throws -> String { try direct(.read) { db in db.key(account) } }
}
