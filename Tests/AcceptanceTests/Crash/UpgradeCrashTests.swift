import Foundation
import MockEndorser
import Testing

/// A kill -9 before any write of an upgrade, or in the middle of one, loses nothing, and leaves the copy from before it.
@Suite(.serialized, .enabled(if: !TestConfiguration.isRunEncrypted)) struct UpgradeCrashTests {
    @Test(arguments: ["version-9"])
    func anUpgradeThatEndsBeforeAnyOfItsWritesIsDoneByTheNextStart(name: String) async throws {
        let former = try #require(CompatibilityTests.all.first { $0.name == name })
        let counted = try await CompatibilityTests.world(former, .endorser).world
        let tally = counted.workspace.path("tally")
        #expect(try await counted.cycle(FaultLibrary.counting(in: tally)).status == 0)
        let writes = try String(contentsOfFile: tally, encoding: .utf8).split(separator: "\n").count
        #expect(writes > 30)
        try await counted.mock.stop()
        for (point, isTorn) in CrashPointTests.deaths(of: writes, atMost: 8) {
            let what = "\(name), killed at write \(point) of \(writes), torn: \(isTorn)"
            try await expectNoLoss(former, point, isTorn, what)
        }
    }

    private func expectNoLoss(
        _ former: CompatibilityTests.Former,
        _ point: Int,
        _ isTorn: Bool,
        _ what: String
    ) async throws {
        let (world, new) = try await CompatibilityTests.world(former, .endorser)
        let open = "SELECT jwt_id FROM notification_outbox WHERE state <> 'acknowledged'"
        let version = try Database.integer(world.database, "PRAGMA user_version")
        let wanted = Set(try Database.strings(world.database, open) + [new])
        try await world.cycle(FaultLibrary.dying(at: point, isTorn: isTorn))
        for _ in 0..<5 {
            let next = try await world.cycle()
            #expect(next.status == 0, "\(what): \(next.errors)")
            if Set(try world.notifications().flatMap(\.changes)) == wanted { break }
        }
        let notifications = try world.notifications()
        #expect(Set(notifications.flatMap(\.changes)) == wanted, "\(what)")
        #expect(Set(notifications.map(\.id)).count == notifications.count, "\(what): repeated")
        #expect(try Database.booksBalance(world.database), "\(what)")
        let newest = try Database.integer(world.database, "PRAGMA user_version")
        let copy = "\(world.database).before-\(newest)"
        #expect(try Database.integer(copy, "PRAGMA user_version") == version, "\(what): the copy")
        #expect(try Database.read(copy, "PRAGMA integrity_check") == "ok", "\(what): the copy")
        try await world.mock.stop()
    }
}
