import StarwatchCore
import StarwatchTestKit
import Testing

@testable import StarwatchStore

/// What is stored of a list's page.
@Suite struct ListCommitTests {
    let world = World()

    @Test func newItemsAreStoredOnceInTheirOrder() async throws {
        let store = try await world.open()
        let counts = try #require(try await world.commit(store, items: world.items([3, 1, 2])))
        #expect(counts.handled == 3 && counts.inserted == 3 && counts.duplicates == 0 && !counts.outOfRoom)
        // As after a kill between the commit and the end of the cycle.
        let again = try #require(try await world.commit(store, items: world.items([3, 1, 2])))
        #expect(again.handled == 3 && again.inserted == 0 && again.duplicates == 3)
        let rows = try await world.listRows(store)
        #expect(rows.map(\.change.plan) == ["item-3", "item-1", "item-2"])
        #expect(rows.map(\.change.id.rawValue) == rows.map(\.change.id.rawValue).sorted())
        #expect(rows.allSatisfy { $0.change.changedAt == world.now && !$0.change.isEdition })
        #expect(rows.map(\.change.name) == ["name 3", "name 1", "name 2"])
        #expect(again.fetchCursor == rows.last?.change.id)
        try await world.expectBalanced(store)
    }

    @Test func anotherVersionIsAnEdition() async throws {
        let store = try await world.open()
        try await world.commit(store, items: world.items(1...2))
        let counts = try await world.commit(store, items: [world.item(1, version: "2"), world.item(2)])
        #expect(counts?.inserted == 1 && counts?.duplicates == 1)
        #expect(try await world.listRows(store).map(\.change.isEdition) == [false, false, true])
        // Versions without an order can come back.
        #expect(try await world.commit(store, items: world.items(1...2))?.inserted == 1)
        try await world.expectBalanced(store)
    }

    @Test func aVersionThatGoesBackIsNoNews() async throws {
        let store = try await world.open()
        try await world.commit(store, items: [world.item(1, version: "b", rank: 2)])
        let former = world.item(1, version: "a", rank: 1)
        #expect(try await world.news(store, [former]) == [])
        #expect(try await world.commit(store, items: [former])?.duplicates == 1)
        // The later version is still the known one.
        #expect(try await world.news(store, [world.item(1, version: "b", rank: 2)]) == [])
        #expect(try await world.news(store, [world.item(1, version: "c", rank: 3)]) == ["item-1"])
    }

    @Test func anItemThatIsTwiceOnAPageIsOneChange() async throws {
        let store = try await world.open()
        let counts = try await world.commit(store, items: world.items([1, 1]))
        #expect(counts?.inserted == 1 && counts?.duplicates == 1)
        try await world.expectBalanced(store)
    }

    @Test func itemsWithoutRoomStayUnseenAndTheStateIsNotStored() async throws {
        let store = try await world.open()
        try await world.commit(store, items: world.items([1, 5]))
        let items = world.items([1, 2, 3, 4, 5])
        let state = ListState()
        let first = try #require(try await world.commit(store, items: items, room: 2) { $0.state = state })
        #expect(first.outOfRoom && first.handled == 3 && first.inserted == 2 && first.duplicates == 1)
        #expect(try await store.outbox.listState(of: World.list) == nil)
        #expect(try await world.news(store, items) == ["item-4"])
        let none = try #require(try await world.commit(store, items: items, room: 0) { $0.state = state })
        #expect(none.outOfRoom && none.inserted == 0 && none.handled == 3)
        let rest = try #require(try await world.commit(store, items: items) { $0.state = state })
        #expect(!rest.outOfRoom && rest.inserted == 1)
        #expect(try await store.outbox.listState(of: World.list) == state)
        let plans = try await world.listRows(store).map(\.change.plan)
        #expect(plans == ["item-1", "item-5", "item-2", "item-3", "item-4"])
        try await world.expectBalanced(store)
    }

    @Test func theStateIsReadBack() async throws {
        let store = try await world.open()
        #expect(try await store.outbox.listState(of: World.list) == nil)
        var state = ListState()
        (state.etag, state.lastModified, state.settings) = ("\"a\"", "yesterday", .min)
        state.since = SinceValue(5, .milliseconds)
        let stored = state
        try await world.commit(store, items: []) { $0.state = stored }
        #expect(try await store.outbox.listState(of: World.list) == stored)
        // A page that is not the last one of its walk keeps it.
        try await world.commit(store, items: [world.item(1)])
        #expect(try await store.outbox.listState(of: World.list) == stored)
    }

    @Test func newsKeepTheirOrderAndReadingThemWritesNothing() async throws {
        let store = try await world.open()
        try await world.commit(store, items: [world.item(2)])
        let statements = try await Recorded.statements(of: store) {
            let news = try await world.news(store, world.items([4, 2, 3]))
            let none = try await world.news(store, [])
            #expect(news == ["item-4", "item-3"] && none == [])
        }
        #expect(!statements.isEmpty && statements.allSatisfy { $0.hasPrefix("SELECT") })
    }

    @Test func identifiersRiseEvenIfTheClockGoesBack() async throws {
        let store = try await world.open()
        try await world.commit(store, items: world.items(1...2))
        world.now = world.now - .days(1)
        try await world.commit(store, items: world.items(3...4))
        try await store.write(.edit) { db in
            // As after a bootstrap that began anew.
            try db.streams.restart("poll = ?", [World.list.poll.rawValue])
        }
        try await world.commit(store, items: world.items(5...6))
        let ids = try await world.listRows(store).map(\.change.id.rawValue)
        #expect(ids.count == 6 && ids == ids.sorted() && Set(ids).count == 6)
    }

    @Test func detailsAreReadBackUntilTheirChangeIsDelivered() async throws {
        let store = try await world.open()
        try await world.commit(store, items: [world.item(1)])
        #expect(try await world.listRows(store).map(\.change.details) == [world.item(1).details])
        let announced = try await world.announceList(store)
        #expect(announced.map(\.details?.link) == ["https://releases.example/1"])
        #expect(announced.map(\.details?.fields) == [["author": "author 1"]])
        #expect(try await world.listRows(store).map(\.change.details) == [nil])
    }

    @Test func theWatermarkFollowsWhatIsDelivered() async throws {
        let store = try await world.open()
        try await world.commit(store, items: world.items(1...2))
        try await world.announceList(store)
        let completion = try await store.acknowledgements.completeLocally(World.list, now: world.now)
        let last = try #require(try await world.listRows(store).last?.change.id)
        #expect(completion.acknowledged == 2 && completion.watermark == .advanced(to: last))
    }

    @Test func aCycleOfAFormerGenerationWritesNothing() async throws {
        let store = try await world.open()
        let counts = try await world.commit(store, items: [world.item(1)]) { $0.expectedGeneration -= 1 }
        #expect(counts == nil)
        #expect(try await world.news(store, [world.item(1)]) == ["item-1"])
        #expect(try await world.listRows(store).isEmpty)
    }

    @Test func aChangeOfAListKnowsItsRequest() async throws {
        let store = try await world.open()
        let origin = PageOrigin(
            page: 2,
            request: RequestTrace(id: "request", serverID: nil),
            askedAt: world.now,
            answeredAt: world.now,
            tries: 1
        )
        try await world.commit(store, items: [world.item(1)]) { ($0.origin, $0.number) = (origin, 2) }
        try await world.commit(store, items: [world.item(1)]) { ($0.origin, $0.number) = (origin, 2) }
        #expect(try await world.count("page_fetches", where: "request_id = 'request' AND page = 2") == 1)
    }

    /// A cycle that took the former state would bootstrap again, or store more than there is room for.
    @Test func aCommitForgetsTheStateInMemory() async throws {
        let store = try await world.open()
        func remembered() -> PollState? { store.polls.rememberedState(World.list, maxUndelivered: 1000) }
        _ = try await store.polls.state(World.list, maxUndelivered: 1000)
        #expect(remembered()?.bootstrapped == false)
        try await world.commit(store, items: [world.item(1)]) { ($0.isBootstrap, $0.state) = (true, ListState()) }
        #expect(remembered() == nil)
        #expect(try await store.polls.state(World.list, maxUndelivered: 1000).bootstrapped)
        #expect(remembered()?.room == 1000)
        try await world.commit(store, items: [world.item(2)])
        #expect(remembered() == nil)
        #expect(try await store.polls.state(World.list, maxUndelivered: 1000).room == 999)
    }

    @Test func aLongIdIsStoredAndSeen() async throws {
        let store = try await world.open()
        let long = String(repeating: "é", count: 1024)
        let items = ["a", "b"].map { ListItem(id: long + $0, version: ItemVersion(long), name: nil) }
        #expect(try await world.commit(store, items: items)?.inserted == 2)
        #expect(try await world.news(store, items) == [])
        #expect(try await world.announceList(store).map(\.plan) == items.map(\.id))
    }
}
