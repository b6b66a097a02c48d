import StarwatchCore
import StarwatchStore
import Testing

@Suite struct ShortlinkTests {
    let world = World()
    let link = Shortlink("0123456789abcdef")!

    private func claim(_ store: Store, _ shortlink: Shortlink?) async throws -> OpenNotification? {
        try await store.deliveries.claim(
            world.stream,
            now: world.now,
            limit: 100,
            leaseUntil: world.now + .seconds(60),
            sinks: ["log"]
        ) { rows, _ in
            (.made("ntf_1", count: rows.count), shortlink)
        }.first
    }

    @Test func itResolvesToTheRowsOfItsNotificationForADay() async throws {
        let store = try await world.open()
        try await world.commit(store, world.changes(1...7))
        _ = try await claim(store, link)
        let found = try #require(try await store.notifications.shortlink(link, of: world.account, now: world.now))
        #expect(found.targets.map(\.jwt) == (1...7).map(world.id))
        #expect(Set(found.targets.map(\.plan)) == ["plan"])
        #expect(found.poll == world.stream.poll)
        #expect(found.expiresAt == world.now + .seconds(86_400))
        #expect(
            try await store.notifications.shortlink(link, of: world.account, now: world.now + .seconds(86_399)) != nil
        )
        #expect(
            try await store.notifications.shortlink(link, of: world.account, now: world.now + .seconds(86_400)) == nil
        )
        #expect(
            try await store.notifications.shortlink(#require(Shortlink("other")), of: world.account, now: world.now)
                == nil
        )
    }

    @Test func itSurvivesRestartsAndRetries() async throws {
        var store = try await world.open()
        try await world.commit(store, world.changes(1...7))
        let open = try #require(try await claim(store, link))
        let outcome = DeliveryOutcome.unavailable(nextAttemptAt: world.now)
        _ = try await store.deliveries.record(open.tickets[0], outcome, now: world.now, maxRetries: 3)
        await store.close()
        store = try await world.open()
        #expect(try await store.notifications.shortlink(link, of: world.account, now: world.now)?.targets.count == 7)
    }

    @Test func retentionDeletesExpiredLinks() async throws {
        let store = try await world.open()
        try await world.commit(store, world.changes(1...7))
        _ = try await claim(store, link)
        #expect(try await store.retention.apply(RetentionPolicy(), now: world.now).shortlinks == 0)
        let later = world.now + .seconds(86_400)
        #expect(try await store.retention.apply(RetentionPolicy(), now: later).shortlinks == 1)
        #expect(try await store.notifications.shortlink(link, of: world.account, now: world.now) == nil)
    }

    @Test func anotherIdentityCannotResolveIt() async throws {
        let store = try await world.open()
        try await world.commit(store, world.changes(1...7))
        _ = try await claim(store, link)
        _ = try await store.identity.set(World.bob, server: World.server, now: world.now)
        #expect(try await store.notifications.shortlink(link, of: world.account, now: world.now) == nil)
        _ = try await store.identity.set(World.alice, server: World.server, now: world.now)
        #expect(try await store.notifications.shortlink(link, of: world.account, now: world.now) == nil)
    }

    @Test func aNotificationThatIsNotStoredLeavesNoLink() async throws {
        let store = try await world.open()
        try await world.commit(store, world.changes(1...7))
        _ = try await claim(store, link)
        try await world.commit(store, world.changes(8...9))
        // A second notification with the same id fails, and its shortlink is not stored.
        let other = try #require(Shortlink("fedcba9876543210"))
        await #expect(throws: StoreError.self) { try await claim(store, other) }
        #expect(try await store.notifications.shortlink(other, of: world.account, now: world.now) == nil)
    }
}
