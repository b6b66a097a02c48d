import StarwatchCore
import Testing

@testable import StarwatchStore

/// The plans of offers that name only a claim of their plan.
@Suite struct OfferedPlanTests {
    let world = World()

    private var offers: StreamKey {
        StreamKey(account: world.account, server: World.server, poll: PollName("offers_to_starred")!)
    }

    private func open() async throws -> Store {
        let poll = offers.poll
        let store = try await world.open { $0.polls.insert(poll) }
        _ = try await store.stars.set(["plan", "other"], of: world.account, server: World.server, now: world.now)
        return store
    }

    private func publish(_ number: Int, in store: Store) async throws {
        let change = FetchedChange(world.change(number), details: PlanDetails([.name: "Garden"]))
        try await world.commit(store, []) { $0.changes = [change] }
    }

    /// Stores an offer that names a claim, and returns what is stored.
    private func offer(_ number: Int, naming claim: Int, in store: Store) async throws -> Change? {
        let change = Change(id: world.id(number), plan: "offer", name: nil, isOffer: true, isEdition: true)
        var offer = FetchedChange(change)
        offer.planClaim = world.id(claim)
        try await world.commit(store, [], stream: offers) { [offer] in $0.changes = [offer] }
        return try await store.outbox.list(OutboxFilter()).last?.change
    }

    @Test func theLastClaimOfAStarredPlanTells() async throws {
        let store = try await open()
        try await publish(1, in: store)
        let found = try await offer(9, naming: 1, in: store)
        #expect(found == Change(id: world.id(9), plan: "plan", name: "Garden", isEdition: true))
        try await world.expectBalanced(store)
    }

    @Test func anEarlierClaimOfAStarredPlanTells() async throws {
        let store = try await open()
        try await publish(1, in: store)
        try await publish(2, in: store)
        #expect(try await offer(9, naming: 1, in: store)?.plan == "plan")
    }

    @Test func anUnknownClaimAndOneOfAnOfferTellNothing() async throws {
        let store = try await open()
        try await publish(1, in: store)
        let unknown = try await offer(8, naming: 7, in: store)
        #expect(unknown?.plan == "offer" && unknown?.isOffer == true)
        #expect(try await offer(9, naming: 8, in: store)?.isOffer == true)
    }

    @Test func aClaimOfAPlanThatIsUnstarredTellsNothing() async throws {
        let store = try await open()
        try await publish(1, in: store)
        _ = try await store.stars.remove(["plan"], of: world.account, server: World.server, now: world.now)
        #expect(try await offer(9, naming: 1, in: store)?.isOffer == true)
    }

    @Test func anEvictedOfferHasItsPlanWhenItComesAgain() async throws {
        let store = try await open()
        #expect(try await offer(9, naming: 1, in: store)?.isOffer == true)
        #expect(try await world.evict(store, .fifo, limit: 0) == 1)
        try await publish(1, in: store)
        #expect(try await offer(9, naming: 1, in: store)?.plan == "plan")
    }
}
