import Foundation
import GRDB
import StarwatchCore
import Testing

@testable import StarwatchStore

/// The keys of many accounts in an encrypted database, and the forms of its values.
@Suite struct AccountKeyTests {
    let world = World()
    let master = MasterKey()

    private func open() async throws -> Store { try await world.open { $0.masterKey = master } }

    /// Opens the database without asking it anything.
    private func openUnused() throws -> Store {
        var options = world.options()
        options.masterKey = master
        return try Store(options)
    }

    /// The forms of a database that an agent with version 9 of the schema wrote.
    @Test func valuesOfTheFormerFormStayReadableUntilTheyAreSealedAgain() async throws {
        var store = try await open()
        try await world.fill(store)
        let before = try await Contents(store, world)
        await store.close()
        #expect(
            try await world.rewriteSealedValues {
                FormerForm.text($0)
            } blob: {
                FormerForm.blob($0)
            } > 20
        )
        store = try await open()
        #expect(try await Contents(store, world) == before)
        try await #expect(store.keys.verify().failed == 0)
        _ = try await store.keys.replaceDataKeys()
        while try await !store.keys.reseal(limit: 50).isFinished {}
        #expect(try await Contents(store, world) == before)
        await store.close()
        let left = try await world.rewriteSealedValues {
            #expect(!$0.hasPrefix("\"sw1."))
            return $0
        } blob: {
            #expect(!$0.starts(with: [0x53, 0x57, 1]))
            return $0
        }
        #expect(left > 20)
    }

    @Test func thereIsRoomForTheKeysOfManyAccounts() async throws {
        var store = try await open()
        await store.close()
        try await DatabaseQueue(path: world.path).write { db in
            try db.execute(sql: "UPDATE sqlite_sequence SET seq = 1 << 40 WHERE name = 'data_keys'")
        }
        store = try await open()
        _ = try await store.stars.set(["plan-b"], of: World.bob, server: World.server, now: world.now)
        #expect(try await store.keys.report().dataKeys.contains { $0.id > 1 << 40 })
        await store.close()
        store = try await open()
        #expect(try await store.stars.list(of: World.bob) == ["plan-b"])
    }

    @Test func theKeyOfAnAccountIsReadWhenItIsNeeded() async throws {
        var store = try await open()
        for account in [World.alice, World.bob] {
            _ = try await store.stars.set(["plan"], of: account, server: World.server, now: world.now)
        }
        await store.close()
        store = try openUnused()
        #expect(await store.keysInMemory() == 0)
        #expect(try await store.stars.list(of: World.bob) == ["plan"])
        #expect(await store.keysInMemory() == 1)
        #expect(try await store.stars.list(of: World.alice) == ["plan"])
        #expect(await store.keysInMemory() == 2)
    }
}

/// The forms of sealed values until version 9 of the schema: three bytes of the key's id.
private enum FormerForm {
    static func text(_ stored: String) -> String {
        guard stored.hasPrefix("\"sw2."), let bytes = Data(base64Encoded: String(stored.dropFirst(5).dropLast())) else {
            return stored
        }
        return "\"sw1." + Data(bytes.dropFirst(5)).base64EncodedString() + "\""
    }

    static func blob(_ stored: Data) -> Data {
        stored.starts(with: [0x53, 0x57, 2]) ? [0x53, 0x57, 1] + Data(stored.dropFirst(8)) : stored
    }
}

extension World {
    /// Writes every sealed value in another form.
    ///
    /// - Returns: The number of sealed values.
    fileprivate func rewriteSealedValues(
        text: @Sendable (String) -> String,
        blob: @Sendable (Data) -> Data
    ) async throws -> Int {
        try await DatabaseQueue(path: path).write { db in
            var count = 0
            for column in SealedColumn.allCases {
                let (table, name) = (column.table, column.name)
                let values = try DatabaseValue.fetchAll(
                    db,
                    sql: "SELECT DISTINCT \(name) FROM \(table) WHERE \(name) IS NOT NULL"
                )
                for value in values {
                    let new: any DatabaseValueConvertible
                    switch value.storage {
                    case .string(let stored): new = text(stored)
                    case .blob(let stored): new = blob(stored)
                    default: continue
                    }
                    try db.execute(
                        sql: "UPDATE \(table) SET \(name) = ? WHERE \(name) = ?",
                        arguments: [new, value]
                    )
                    count += 1
                }
            }
            return count
        }
    }
}

extension Store {
    /// The number of data keys that are open.
    fileprivate func keysInMemory() -> Int { context.vault.ring?.keys.count ?? 0 }
}
