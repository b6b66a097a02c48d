import GRDB
import StarwatchCore
import StarwatchStore
import StarwatchTestKit
import Testing

/// Accounts created before a feature.
@Suite struct FeatureTests {
    let world = World()
    static let carol = DID("did:ethr:0xcarol")!

    private func introduce(_ store: Store) async throws -> Int? {
        try await store.notifications.introduce(feature: "stars", now: world.now) {
            "ntf_\(UInt64.random(in: 0 ... .max))"
        }
    }

    private func announce(_ notice: FeatureNotice, _ store: Store) async throws {
        try await store.notifications.announce(
            notice,
            on: world.stream,
            .made(notice.token, count: 1),
            sinks: ["file"],
            now: world.now
        )
    }

    private func notices() async throws -> Int? {
        try await DatabaseQueue(path: world.path).read { db in
            try Int.fetchOne(db, sql: "SELECT count(*) FROM feature_notices")
        }
    }

    private func prefer(_ json: String, of account: DID, _ store: Store) async throws {
        try await store.identity.setNotificationPreferences(json, of: account, server: World.server, now: world.now)
    }

    @Test func accountsWithPreferencesAndNoStarsGetOneNotice() async throws {
        let store = try await world.open()
        try await prefer(#"{"sound": true}"#, of: World.alice, store)
        #expect(try await introduce(store) == 1)
        #expect(try await introduce(store) == nil)
        let notice = try #require(try await store.notifications.openNotices(of: World.alice).first)
        #expect(notice.feature == "stars" && notice.createdAt == world.now)
        try await announce(notice, store)
        #expect(try await store.notifications.openNotices(of: World.alice).isEmpty)
        // Also after a restart, and for an account created later.
        await store.close()
        let next = try await world.open()
        try await prefer(#"{"sound": true}"#, of: World.bob, next)
        #expect(try await introduce(next) == nil)
        #expect(try await next.notifications.openNotices(of: World.bob).isEmpty)
    }

    @Test func otherAccountsGetNoNotice() async throws {
        let store = try await world.open()
        try await prefer(#"{"starredProjects": false}"#, of: World.bob, store)
        try await prefer(#"{"sound": true}"#, of: Self.carol, store)
        _ = try await store.stars.set(["plan"], of: Self.carol, server: World.server, now: world.now)
        #expect(try await introduce(store) == 0)
        for account in [World.alice, World.bob, Self.carol] {
            #expect(try await store.notifications.openNotices(of: account).isEmpty)
        }
    }

    @Test func aWatermarkStays() async throws {
        let store = try await world.open()
        try await prefer(#"{"sound": true}"#, of: World.alice, store)
        #expect(
            try await store.swapWatermark(world.stream, expected: nil, new: world.id(7), now: world.now)
        )
        #expect(try await introduce(store) == 1)
        #expect(try await store.acknowledgements.watermark(world.stream) == world.id(7))
        let mirrored = try await DatabaseQueue(path: world.path).read { db in
            try String.fetchOne(db, sql: "SELECT lastAckedStarredPlanChangesJwtId FROM settings")
        }
        #expect(mirrored == world.id(7).rawValue)
    }

    @Test func anInterruptedIntroductionHasNoEffect() async throws {
        let store = try await world.open()
        try await prefer(#"{"sound": true}"#, of: World.alice, store)
        try await prefer(#"{"sound": true}"#, of: World.bob, store)
        // Two notices cannot have one id. The second insert fails after the first was written.
        await #expect(throws: StoreError.self) {
            try await store.notifications.introduce(feature: "stars", now: world.now) { "ntf_same" }
        }
        #expect(try await store.notifications.openNotices(of: World.alice).isEmpty)
        #expect(try await introduce(store) == 2)
    }

    @Test func noticesAreDeletedAfterThirtyDaysAndWithTheirAccount() async throws {
        let store = try await world.open()
        try await prefer(#"{"sound": true}"#, of: World.alice, store)
        try await prefer(#"{"sound": true}"#, of: World.bob, store)
        #expect(try await introduce(store) == 2)
        try await announce(#require(try await store.notifications.openNotices(of: World.alice).first), store)
        _ = try await store.retention.apply(RetentionPolicy(), now: world.now + .days(31))
        #expect(try await notices() == 2, "it is still to be delivered")
        let open = try await world.reclaim(store, until: world.now)
        _ = try await store.deliveries.record(#require(open.first?.tickets.first), .ok, now: world.now, maxRetries: 3)
        _ = try await store.retention.apply(RetentionPolicy(), now: world.now + .days(31))
        #expect(try await notices() == 1)
        try await prefer("{}", of: World.bob, store)
        _ = try await store.retention.apply(RetentionPolicy(), now: world.now + .days(731))
        #expect(try await notices() == 0)
    }

    @Test func undeliveredNoticesReturnWithTheirIdentity() async throws {
        let store = try await world.open()
        try await prefer(#"{"sound": true}"#, of: World.alice, store)
        _ = try await introduce(store)
        let notice = try #require(try await store.notifications.openNotices(of: World.alice).first)
        try await announce(notice, store)
        _ = try await store.identity.set(World.bob, server: World.server, now: world.now)
        _ = try await store.identity.set(World.alice, server: World.server, now: world.now)
        let open = try await store.notifications.openNotices(of: World.alice)
        #expect(open.count == 1)
        #expect(try #require(open.first) == notice)
        try await announce(notice, store)
        #expect(try await store.notifications.find(notice.token, of: world.account)?.state == .open)
    }

    // MARK: - Opting out

    @Test func optingOutWorksWithNullPreferences() async throws {
        let store = try await world.open()
        try await prefer("null", of: World.alice, store)
        _ = try await store.stars.setOptedOut(true, of: World.alice, server: World.server, now: world.now)
        #expect(try await store.stars.interests(of: World.alice).preferences == #"{"starredProjects":false}"#)
    }

    @Test func optingOutOfAKindSuppressesOnlyItsRows() async throws {
        let offers = StreamKey(account: World.alice, server: World.server, poll: PollName("offers")!)
        let store = try await world.open {
            $0.polls.insert(offers.poll)
            $0.pollsOfKind[.offersToMe] = [offers.poll]
        }
        try await world.commit(store, world.changes(1...3))
        try await world.commit(store, world.changes(4...5), stream: offers)
        _ = try await store.stars.setOptedOut(
            true,
            from: .offersToMe,
            of: World.alice,
            server: World.server,
            now: world.now
        )
        #expect(try await store.status.ledger(offers).suppressed == 2)
        #expect(try await store.status.ledger(world.stream).suppressed == 0)
        #expect(try await store.outboxCounts()[.pending, default: 0] == 3)
        #expect(try await store.stars.interests(of: World.alice).preferences == #"{"offersToMe":false}"#)
        try await world.expectBalanced(store)
    }

    @Test func optingOutSuppressesPendingRowsAndKeepsStarsAndPreferences() async throws {
        let store = try await world.open()
        try await prefer(#"{"sound": true, "starred_projects": true}"#, of: World.alice, store)
        _ = try await store.stars.set(["plan"], of: World.alice, server: World.server, now: world.now)
        try await world.commit(store, world.changes(1...3))
        let stars = try await store.stars.setOptedOut(true, of: World.alice, server: World.server, now: world.now)
        #expect(stars == ["plan"])
        #expect(try await store.status.ledger(world.stream).suppressed == 3)
        #expect(try await store.outboxCounts()[.pending, default: 0] == 0)
        #expect(try await store.status.snapshot([]).newImbalance == 0)
        let preferences = try await store.stars.interests(of: World.alice).preferences
        #expect(preferences == #"{"sound":true,"starredProjects":false}"#)
        _ = try await store.stars.setOptedOut(false, of: World.alice, server: World.server, now: world.now)
        #expect(
            try await store.stars.interests(of: World.alice).preferences == #"{"sound":true,"starredProjects":true}"#
        )
    }
}
