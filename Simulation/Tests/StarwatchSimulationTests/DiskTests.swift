import Foundation
import GRDB
import StarwatchCore
import StarwatchStore
import Testing

@testable import StarwatchSimulation

/// Simulated disks lose only data that a real disk can lose.
@Suite struct DiskTests {
    /// Runs `body` with a disk on a thread that a loop owns, as in a simulation.
    private func onDisk<T>(_ body: (SimulatedDisk) throws -> T) throws -> T {
        try SimulationLoop(chance: Chance(seed: 0, "disk")).own {
            let disk = try SimulatedDisk(isEmpty: true)
            defer { disk.remove() }
            return try body(disk)
        }
    }

    @Test func aFileIsWhatWasWrittenToIt() throws {
        try onDisk { disk in
            let file = disk.makeFile(at: disk.path)
            [1, 2, 3].withUnsafeBytes { (bytes: UnsafeRawBufferPointer) in file.write(bytes, at: 0) }
            #expect(file.size == 24)
            [UInt8](repeating: 9, count: 2).withUnsafeBytes { file.write($0, at: 30) }
            #expect(Array(file.bytes[24...]) == [0, 0, 0, 0, 0, 0, 9, 9])
            var read = [UInt8](repeating: 7, count: 4)
            #expect(read.withUnsafeMutableBytes { !file.read(into: $0, at: 30) })
            #expect(read == [9, 9, 0, 0])
            file.truncate(to: 1)
            #expect(file.bytes == [1])
        }
    }

    @Test func onlyWhatWasNotSyncedIsLost() throws {
        try onDisk { disk in
            let file = disk.makeFile(at: disk.path)
            [UInt8](repeating: 1, count: 1024).withUnsafeBytes { file.write($0, at: 0) }
            file.sync()
            [UInt8](repeating: 2, count: 2048).withUnsafeBytes { file.write($0, at: 512) }
            // Outside the expectations, in which Swift 6.3 confuses the closures.
            let synced = file.afterPowerLoss { _ in true }
            let written = file.afterPowerLoss { _ in false }
            let half = file.afterPowerLoss { $0 >= 0.5 }
            let crashed = file.copy().afterPowerLoss { _ in true }
            #expect(synced == [UInt8](repeating: 1, count: 1024))
            #expect(written == file.bytes)
            #expect(half == [UInt8](repeating: 1, count: 512) + [UInt8](repeating: 2, count: 1024))
            // A crash syncs nothing.
            #expect(crashed == synced)
            file.truncate(to: 100)
            file.sync()
            let short = file.afterPowerLoss { _ in true }
            #expect(short == [UInt8](repeating: 1, count: 100))
            // Two writes to the same range, a truncation, and another write.
            [UInt8](repeating: 3, count: 80).withUnsafeBytes { file.write($0, at: 10) }
            [UInt8](repeating: 4, count: 80).withUnsafeBytes { file.write($0, at: 0) }
            file.truncate(to: 20)
            [UInt8](repeating: 5, count: 200).withUnsafeBytes { file.write($0, at: 20) }
            let again = file.afterPowerLoss { _ in true }
            #expect(again == short)
        }
    }

    @Test func oneProcessWritesAtATime() throws {
        try onDisk { disk in
            var configuration = Configuration()
            configuration.busyMode = .immediateError
            let paths = [disk.path(of: 0), disk.path(of: 1)]
            let first = try DatabaseQueue(path: paths[0], configuration: configuration)
            try first.writeWithoutTransaction {
                try $0.execute(sql: "PRAGMA journal_mode = WAL; CREATE TABLE rows (id INTEGER PRIMARY KEY)")
            }
            let second = try DatabaseQueue(path: paths[1], configuration: configuration)
            func insert(_ queue: DatabaseQueue) throws {
                try queue.write { try $0.execute(sql: "INSERT INTO rows DEFAULT VALUES") }
            }
            func count(_ queue: DatabaseQueue) throws -> Int? {
                try queue.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM rows") }
            }
            try insert(first)
            try first.write { db in
                try db.execute(sql: "INSERT INTO rows DEFAULT VALUES")
                #expect(throws: DatabaseError.self) { try insert(second) }
                #expect(try count(second) == 1)
            }
            try insert(second)
            #expect(try count(first) == 3)
            // A process that is killed in a transaction leaves no lock.
            try first.writeWithoutTransaction { db in
                try db.execute(sql: "BEGIN IMMEDIATE; INSERT INTO rows DEFAULT VALUES")
                disk.failWhen(of: 0) { _ in .broken }
                disk.cutOff(0)
                try insert(second)
                try? db.rollback()
            }
            try? first.close()
            #expect(try count(second) == 4)
            try second.close()
        }
    }

    /// SQLite promises in this mode that the database is intact and contains everything up to the last checkpoint.
    @Test(arguments: 0..<20 as Range<UInt64>)
    func aDatabaseIsWholeAfterEveryLoss(seed: UInt64) throws {
        try onDisk { disk in
            var chance = Chance(seed: seed, "losses")
            var (sure, written) = (0, 0)
            for life in 0..<12 {
                let database = try DatabaseQueue(path: disk.path)
                if life == 0 {
                    try database.writeWithoutTransaction { try $0.execute(sql: "PRAGMA journal_mode = WAL") }
                    try database.write { try $0.execute(sql: "CREATE TABLE rows (id INTEGER PRIMARY KEY, text)") }
                    try database.writeWithoutTransaction { _ = try $0.checkpoint(.full) }
                }
                try database.writeWithoutTransaction { try $0.execute(sql: "PRAGMA synchronous = NORMAL") }
                let found = try database.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM rows") ?? -1 }
                #expect((sure...written).contains(found))
                #expect(try database.read { try String.fetchOne($0, sql: "PRAGMA integrity_check") } == "ok")
                (sure, written) = (found, found)
                for _ in 0..<chance.number(1...30) {
                    try database.write { db in
                        try db.execute(
                            sql: "INSERT INTO rows (text) VALUES (?)",
                            arguments: [String(repeating: "x", count: chance.number(0...9000))]
                        )
                    }
                    written += 1
                    if chance.happens(0.1) {
                        try database.writeWithoutTransaction { _ = try $0.checkpoint(.full) }
                        sure = written
                    }
                }
                let share = chance.unit()
                disk.cut { place in seed % 2 == 0 ? place >= share : chance.unit() >= share }
                disk.failWhen { _ in .broken }
                try? database.close()
                disk.failWhen(nil)
            }
        }
    }

    /// Logs, metrics and links name accounts by a key that the database makes.
    @Test func theKeysOfANewEncryptedDatabaseSurviveALossOfPower() throws {
        func keys(_ path: String) throws -> [Data] {
            let database = try DatabaseQueue(path: path)
            defer { try? database.close() }
            return try database.read { db in try Data.fetchAll(db, sql: "SELECT wrapped FROM data_keys ORDER BY id") }
        }
        try onDisk { disk in
            var options = StoreOptions(path: disk.path)
            options.masterKey = Simulation.masterKey
            let store = try Store(options)
            let before = try keys(disk.path)
            #expect(before.count > 1)
            disk.cut { _ in true }
            let after = try keys(disk.path)
            #expect(after == before)
            _ = store
        }
    }
}
