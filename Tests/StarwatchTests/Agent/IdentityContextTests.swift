import Logging
import StarwatchCore
import StarwatchStore
import Testing

@testable import Starwatch

@Suite struct IdentityContextTests {
    private let folder: TestFolder
    private let store: Store
    private let server = "http://127.0.0.1"
    private let now = ManualClock.start
    private let quiet = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    init() async throws {
        folder = try TestFolder()
        store = try Store(StoreOptions(path: folder.path("starwatch.db")))
        _ = try await store.identity.seedIfEmpty(World.key, server: server, now: now)
        _ = try await store.stars.change(of: World.key, server: server, now: now) { _, _ in ["a"] }
    }

    @Test func whatIsCachedStaysUntilItIsInvalidated() async throws {
        let context = IdentityContext(store: store, isShared: false, logger: quiet) { ManualClock.start }
        #expect(try await context.current().stars == ["a"])
        _ = try await store.stars.change(of: World.key, server: server, now: now) { stars, _ in stars + ["b"] }
        #expect(try await context.current().stars == ["a"])
        context.invalidate()
        #expect(try await context.current().stars.sorted() == ["a", "b"])
        await store.close()
    }

    @Test func aSharedDatabaseIsReadEveryTime() async throws {
        let context = IdentityContext(store: store, isShared: true, logger: quiet) { ManualClock.start }
        #expect(try await context.current().stars == ["a"])
        _ = try await store.stars.change(of: World.key, server: server, now: now) { stars, _ in stars + ["b"] }
        #expect(try await context.current().stars.sorted() == ["a", "b"])
        _ = try await store.identity.set(nil, server: server, now: now)
        #expect(try await context.current().identity.did == nil)
        #expect(try await context.current().stars.isEmpty)
        await store.close()
    }

    @Test func requestBodiesAreMadeOnceAndNotKeptForOtherStars() async throws {
        let context = IdentityContext(store: store, isShared: false, logger: quiet) { ManualClock.start }
        let old = try await context.current()
        #expect(old.chunks(dialect: .endorser).map(\.count) == [1])
        #expect(try await context.current().chunkCounts == [1])

        _ = try await store.stars.change(of: World.key, server: server, now: now) { stars, _ in stars + ["b"] }
        context.invalidate()
        _ = try await context.current()
        // A cycle that began before still has its own stars, and does not give them to the next one.
        #expect(old.chunks(dialect: .canonical).map(\.count) == [1])
        #expect(try await context.current().chunks(dialect: .canonical).map(\.count) == [2])
        await store.close()
    }

    @Test func requestsWithABodyAndWithAQueryAreKeptApart() async throws {
        let context = IdentityContext(store: store, isShared: false, logger: quiet) { ManualClock.start }
        // Two of these fit into a body, and one into a query.
        let long = ["a", "b"].map { $0 + String(repeating: "x", count: 6_900) }
        _ = try await store.stars.change(of: World.key, server: server, now: now) { _, _ in long }
        for _ in 1...2 {
            let current = try await context.current()
            #expect(current.chunks(for: .starredProjects, dialect: .endorser).map(\.count) == [2])
            #expect(current.chunks(for: .givesToStarred, dialect: .endorser).map(\.count) == [1, 1])
        }
        #expect(try await context.current().chunkCounts.sorted() == [1, 2])
        await store.close()
    }
}
