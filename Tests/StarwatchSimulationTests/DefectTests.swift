import GRDB
import Testing

@testable import StarwatchSimulation

/// A simulation is worth something only if it finds what is wrong.
@Suite struct DefectTests {
    /// Whether one of some seeds breaks `promise`.
    private func breaks(
        _ promise: StarwatchSimulation.Promise,
        _ defect: Defect = .none,
        tamper: @escaping @Sendable (String) -> Void = { _ in }
    ) async throws -> Bool {
        for seed in 0..<200 as Range<UInt64> {
            var plan = SimulationPlan(seed: seed)
            plan.defect = defect
            plan.cycles = 80
            let result = try await Simulation.run(plan, tamper: tamper)
            if result.violations.contains(where: { $0.promise == promise }) { return true }
        }
        return false
    }

    @Test(arguments: [
        (Defect.loseItems, StarwatchSimulation.Promise.nothingLost),
        (.forgeWatermark, .watermarkTruthful),
        (.renameNotifications, .nothingTwice),
        (.hideRetryAfter, .retryAfter),
        (.tripleLimit, .requestLimit),
    ])
    func aPlantedDefectIsFound(defect: Defect, promise: StarwatchSimulation.Promise) async throws {
        #expect(try await breaks(promise, defect))
    }

    @Test(arguments: [
        ("UPDATE ledger SET new = new + 1", StarwatchSimulation.Promise.booksBalance),
        (
            // With the books put right, or they would be found wrong before. Rows that were deleted would come again.
            """
            CREATE TEMP VIEW gone AS SELECT stream_id, count(*) AS n FROM notification_outbox
                WHERE state = 'pending' GROUP BY stream_id;
            UPDATE ledger SET suppressed = suppressed + n FROM gone WHERE gone.stream_id = ledger.stream_id;
            UPDATE notification_outbox SET state = 'suppressed', finished_at = created_at WHERE state = 'pending';
            DROP VIEW gone
            """, .nothingLost
        ),
        ("UPDATE watermarks SET watermark = NULL", .watermarkRises),
        (
            """
            UPDATE notification_outbox SET state = 'delivered', delivered_at = created_at, notification_id = NULL
            WHERE state = 'pending'
            """, .nothingInvented
        ),
    ])
    func aHandInTheDatabaseIsFound(sql: String, promise: StarwatchSimulation.Promise) async throws {
        let isFound = try await breaks(promise) { path in
            // A database that does not open is not the point here.
            try? DatabaseQueue(path: path).write { try $0.execute(sql: sql) }
        }
        #expect(isFound)
    }
}
