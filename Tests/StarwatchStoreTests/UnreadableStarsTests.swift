import GRDB
import StarwatchCore
import StarwatchStore
import Testing

/// Stars that are JSON of another shape.
@Suite struct UnreadableStarsTests {
    let world = World()

    private func open(_ json: String) async throws -> Store {
        let store = try await world.open()
        _ = try await store.stars.set(["a"], of: World.alice, server: World.server, now: world.now)
        try await write("UPDATE settings SET starredPlanHandleIds = '\(json)'")
        return store
    }

    private func write(_ sql: String) async throws {
        try await DatabaseQueue(path: world.path).write { db in try db.execute(sql: sql) }
    }

    private var stored: String? {
        get async throws {
            try await DatabaseQueue(path: world.path).read { db in
                try String.fetchOne(db, sql: "SELECT starredPlanHandleIds FROM settings")
            }
        }
    }

    @Test(.enabled(if: World.isClear), arguments: [#"{"plans":["a"]}"#, "[1]", "7", "null", #"["a",null]"#])
    func theyAreEmptyAndNobodyOverwritesThem(json: String) async throws {
        let store = try await open(json)
        let interests = try await store.stars.interests(of: World.alice)
        #expect(interests.stars.isEmpty && interests.areStarsUnreadable)
        #expect(try await store.stars.list(of: World.alice).isEmpty)
        // The configured plans seed only stars that were never written.
        try await write("UPDATE settings SET starsSeeded = 0")
        let seeded = try await store.stars.seedIfEmpty(
            ["b"],
            of: World.alice,
            server: World.server,
            now: world.now
        )
        #expect(seeded.isEmpty)
        _ = try await store.stars.setOptedOut(true, of: World.alice, server: World.server, now: world.now)
        _ = try await store.identity.set(World.bob, server: World.server, now: world.now)
        _ = try await store.identity.set(World.alice, server: World.server, now: world.now)
        #expect(try await stored == json)
        try await world.commit(store, [world.change(1)])
    }

    @Test(.enabled(if: World.isClear)) func settingTheStarsMendsThem() async throws {
        let store = try await open("7")
        let change = try await store.stars.set(["b"], of: World.alice, server: World.server, now: world.now)
        #expect(change == ["b"])
        let interests = try await store.stars.interests(of: World.alice)
        #expect(interests.stars == ["b"] && !interests.areStarsUnreadable)
    }
}
