import StarwatchCore
import Synchronization
import Testing

@Suite struct CronEffortTests {
    /// Counts the lookups.
    private struct CountingZone: TimeZoneRules {
        final class Count: Sendable {
            let value = Atomic(0)
        }

        let identifier = "counting"
        let count = Count()

        func offsetSeconds(at time: Timestamp) -> Int {
            count.value.add(1, ordering: .relaxed)
            return 3600
        }
    }

    /// A search by minutes would need thousands of lookups.
    @Test(arguments: [("*/15 * * * *", 3), ("0 9 * * *", 4), ("0 0 1 * *", 5), ("0 0 29 2 *", 5)])
    func findingTheNextRunNeedsFewZoneLookups(text: String, limit: Int) throws {
        let zone = CountingZone()
        let cron = try CronExpression(text)
        _ = cron.next(after: try at("2026-01-01T09:30:00Z"), in: zone)
        let asked = zone.count.value.load(ordering: .relaxed)
        #expect(asked <= limit, "asked \(asked) times")
    }
}
