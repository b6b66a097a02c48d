import FoundationEssentials
import GRDB
import StarwatchCore
import Testing

@testable import StarwatchStore

/// Lists in encrypted databases.
struct ListSealingTests {
    let world = World()
    let master = MasterKey()

    private func open(_ key: MasterKey?) async throws -> Store {
        try await world.open { $0.masterKey = key }
    }

    private func fill(_ store: Store) async throws {
        var state = ListState()
        state.etag = "canarystate"
        let stored = state
        let details = ItemDetails(link: "https://canarylink.example", fields: [:])
        let item = ListItem(id: "canaryid", version: ItemVersion("canaryversion"), name: "canaryitem", details: details)
        try await world.commit(store, items: [item]) { $0.state = stored }
    }

    private func canaries() throws -> [String] {
        let data = ["", "-wal"].compactMap { try? Data(contentsOf: URL(fileURLWithPath: world.path + $0)) }
        let text = data.map { String(decoding: $0, as: Unicode.ASCII.self) }.joined()
        return ["state", "link", "id", "version", "item"].filter { text.contains("canary\($0)") }
    }

    @Test func nothingReadableOfAListIsInAnEncryptedDatabase() async throws {
        let store = try await open(master)
        try await fill(store)
        #expect(try canaries() == [])
        #expect(try await store.keys.verify().failed == 0)
    }

    @Test func aClearDatabaseHoldsItsNamesAndNoVersion() async throws {
        let store = try await open(nil)
        try await fill(store)
        #expect(try canaries() == ["state", "link", "id", "item"])
    }

    /// Digests with another key would make every item news.
    @Test func whatWasSeenStaysSeenWhateverKeyEncryptsTheDatabase() async throws {
        var store = try await open(nil)
        try await world.commit(store, items: [world.item(1)]) { $0.state = ListState() }
        func expectSeen() async throws {
            #expect(try await world.news(store, world.items(1...2)) == ["item-2"])
            #expect(try await store.outbox.listState(of: World.list) == ListState())
            #expect(try await world.listRows(store).map(\.change.details) == [world.item(1).details])
        }
        _ = try await store.keys.encrypt(with: master)
        try await expectSeen()
        let other = MasterKey()
        try await store.keys.changeMasterKey(to: other)
        _ = try await store.keys.replaceDataKeys()
        while try await !store.keys.reseal().isFinished {}
        #expect(try await store.keys.verify().failed == 0)
        await store.close()
        store = try await open(other)
        try await expectSeen()
        _ = try await store.keys.decrypt()
        await store.close()
        store = try await open(nil)
        try await expectSeen()
    }

    // MARK: - Values that do not open

    private func damage(_ column: SealedColumn) async throws {
        try await DatabaseQueue(path: world.path).write { db in
            let select = "SELECT \(column.name) FROM \(column.table) WHERE \(column.name) IS NOT NULL"
            let row = try #require(try Row.fetchOne(db, sql: select))
            let damaged: DatabaseValue
            if column.isBlob {
                var bytes: Data = row[0]
                bytes[bytes.endIndex - 1] ^= 1
                damaged = bytes.databaseValue
            } else {
                var bytes = Array((row[0] as String).utf8)
                bytes[20] = bytes[20] == UInt8(ascii: "A") ? UInt8(ascii: "B") : UInt8(ascii: "A")
                damaged = String(decoding: bytes, as: UTF8.self).databaseValue
            }
            try db.execute(sql: "UPDATE \(column.table) SET \(column.name) = ?", arguments: [damaged])
        }
    }

    /// Otherwise the poll would announce the whole list, or never run again.
    @Test func aListWhoseKeyDoesNotOpenBeginsAnew() async throws {
        let store = try await open(master)
        try await world.commit(store, items: [world.item(1)]) { $0.state = ListState() }
        try await damage(.listKey)
        await #expect(throws: StoreError.sealed(.damaged)) {
            try await store.outbox.news(among: [world.item(1)], of: World.list)
        }
        await #expect(throws: StoreError.sealed(.damaged)) { try await store.outbox.listState(of: World.list) }
        #expect(store.health.failure == nil)
        #expect(try await !store.polls.state(World.list, maxUndelivered: 10).bootstrapped)
        #expect(try await store.outbox.listState(of: World.list) == nil)
        try await world.commit(store, items: [world.item(1)]) { ($0.isBootstrap, $0.state) = (true, ListState()) }
        #expect(try await world.news(store, world.items(1...2)) == ["item-2"])
        #expect(try await store.keys.verify().failed == 0)
    }

    @Test func aStateThatDoesNotOpenIsUnknown() async throws {
        let store = try await open(master)
        try await world.commit(store, items: [world.item(1)]) { $0.state = ListState() }
        try await damage(.listState)
        #expect(try await store.outbox.listState(of: World.list) == nil)
        #expect(try await world.news(store, [world.item(1)]) == [])
    }

    @Test func aChangeWhoseDetailsDoNotOpenIsAnnouncedWithoutThem() async throws {
        let store = try await open(master)
        try await world.commit(store, items: [world.item(1)])
        try await damage(.outboxDetails)
        #expect(try await world.listRows(store).map(\.change.details) == [nil])
        let announced = try await world.announceList(store)
        #expect(announced.map(\.name) == ["name 1"] && announced.map(\.details) == [nil])
    }
}
