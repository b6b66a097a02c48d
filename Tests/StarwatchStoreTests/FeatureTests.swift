import GRDB
import StarwatchCore
import StarwatchStore
import Testing

/// Accounts that were here before a feature was.
@Suite struct FeatureTests {
    let world = World()
    static let carol = DID("did:ethr:0xcarol")!

    private func introduce(_ store: Store) async throws -> Int? {
        try await store.introduce(feature: "stars", now: world.now) { "ntf_\(UInt64.random(in: 0 ... .max))" }
    }

    private func prefer(_ json: String, of account: DID, _ store: Store) async throws {
        try await store.setNotificationPreferences(json, of: account, server: World.server, now: world.now)
    }

    @Test func anAccountWithPreferencesAndNoStarsIsToldOnce() async throws {
        let store = try await world.open()
        try await prefer(#"{"sound": true}"#, of: World.alice, store)
        #expect(try await introduce(store) == 1)
        #expect(try await introduce(store) == nil)
        let notice = try #require(try await store.openNotices(of: World.alice).first)
        #expect(notice.feature == "stars" && notice.sinksDone.isEmpty && notice.createdAt == world.now)
        try await store.noteNotice(notice, done: ["file"], isFinished: false, now: world.now)
        let again = try #require(try await store.openNotices(of: World.alice).first)
        #expect(again.token == notice.token && again.sinksDone == ["file"] && again.attempts == 1)
        try await store.noteNotice(again, done: ["file", "hook"], isFinished: true, now: world.now)
        #expect(try await store.openNotices(of: World.alice).isEmpty)
        // Also after a restart, and for an account of later.
        await store.close()
        let next = try await world.open()
        try await prefer(#"{"sound": true}"#, of: World.bob, next)
        #expect(try await introduce(next) == nil)
        #expect(try await next.openNotices(of: World.bob).isEmpty)
    }

    @Test func accountsWithoutPreferencesWithStarsOrOptedOutAreLeftAlone() async throws {
        let store = try await world.open()
        try await prefer(#"{"starredProjects": false}"#, of: World.bob, store)
        try await prefer(#"{"sound": true}"#, of: Self.carol, store)
        _ = try await store.setStars(["plan"], of: Self.carol, server: World.server, now: world.now)
        #expect(try await introduce(store) == 0)
        for account in [World.alice, World.bob, Self.carol] {
            #expect(try await store.openNotices(of: account).isEmpty)
        }
    }

    @Test func aWatermarkStays() async throws {
        let store = try await world.open()
        try await prefer(#"{"sound": true}"#, of: World.alice, store)
        #expect(
            try await store.compareAndSwapWatermark(world.stream, expected: nil, new: world.id(7), now: world.now)
        )
        #expect(try await introduce(store) == 1)
        #expect(try await store.watermark(world.stream) == world.id(7))
        let mirrored = try await DatabaseQueue(path: world.path).read { db in
            try String.fetchOne(db, sql: "SELECT lastAckedStarredPlanChangesJwtId FROM settings")
        }
        #expect(mirrored == world.id(7).rawValue)
    }

    @Test func aMigrationThatFailsHalfwayHasNotHappened() async throws {
        let store = try await world.open()
        try await prefer(#"{"sound": true}"#, of: World.alice, store)
        try await prefer(#"{"sound": true}"#, of: World.bob, store)
        // Two notices under one id are refused, the second one after the first was written.
        await #expect(throws: StoreError.self) {
            try await store.introduce(feature: "stars", now: world.now) { "ntf_same" }
        }
        #expect(try await store.openNotices(of: World.alice).isEmpty)
        #expect(try await introduce(store) == 2)
    }

    // MARK: - Opting out

    @Test func optingOutSuppressesWhatWaitsAndKeepsTheStarsAndOtherPreferences() async throws {
        let store = try await world.open()
        try await prefer(#"{"sound": true, "starred_projects": true}"#, of: World.alice, store)
        _ = try await store.setStars(["plan"], of: World.alice, server: World.server, now: world.now)
        try await world.commit(store, world.changes(1...3))
        let change = try await store.setStarsOptedOut(true, of: World.alice, server: World.server, now: world.now)
        #expect(change.stars == ["plan"] && change.suppressedRows == 3)
        #expect(try await store.outboxCounts()[.pending, default: 0] == 0)
        #expect(try await store.imbalances().new == 0)
        let preferences = try await store.notificationPreferences(of: World.alice)
        #expect(preferences == #"{"sound":true,"starredProjects":false}"#)
        _ = try await store.setStarsOptedOut(false, of: World.alice, server: World.server, now: world.now)
        #expect(
            try await store.notificationPreferences(of: World.alice) == #"{"sound":true,"starredProjects":true}"#
        )
    }
}
