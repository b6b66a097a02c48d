import StarwatchCore
import Testing

/// A digest across both changes of daylight saving time, in simulated time. The test prints the run.
@Suite struct DigestYearTests {
    private static let name = DigestName("daily")!

    /// The stored state, without a store.
    private struct Ledger {
        var rows: [DigestOccurrence: DigestRow] = [:]
        var content: Timestamp?
        var armedThrough: Timestamp?
        var lines: [String] = []
        var fetched: [DigestOccurrence] = []
        var fired: [DigestOccurrence] = []

        mutating func step(_ plan: DigestPlan, now: Timestamp, _ local: (Timestamp) -> String) -> Timestamp? {
            let decision = DigestDecision.decide(
                plans: [plan],
                rows: Array(rows.values),
                contents: content.map { [plan.name: $0] } ?? [:],
                armedThrough: armedThrough.map { [plan.name: $0] } ?? [:],
                now: now
            )
            for one in decision.dropped { rows[one] = nil }
            for one in decision.scheduled + decision.armed + decision.fired {
                var row = rows[one.occurrence] ?? DigestRow(one.occurrence)
                row.arming = one.text.map { .init(text: $0, fingerprint: plan.fingerprint) }
                rows[one.occurrence] = row
            }
            for one in decision.skipped {
                rows[one.occurrence] = DigestRow(one.occurrence, status: .skippedStale)
                lines.append("\(local(now))  skipped \(one.occurrence.slot) \(one.code.rawValue)")
            }
            for one in decision.fired {
                rows[one.occurrence]?.isFired = true
                rows[one.occurrence]?.status = .shown
                fired.append(one.occurrence)
                lines.append("\(local(now))  shown   \(one.occurrence.slot) \(one.text!)")
            }
            for one in decision.prefetches {
                rows[one]?.prefetch = .succeeded
                content = now
                fetched.append(one)
                lines.append("\(local(now))  fetched \(one.slot)")
            }
            armedThrough = now + DigestDecision.horizon
            return decision.prefetches.isEmpty ? decision.next : now
        }
    }

    @Test func everySlotFiresOnceADayAcrossDaylightSavingChanges() throws {
        let zone = try TableZone.foundation("Europe/Zurich", years: 2026...2026)
        let plan = DigestPlan(
            name: Self.name,
            times: ["02:30", "03:15", "08:00"].compactMap { DayTime($0) },
            zone: zone,
            lead: .seconds(300),
            ttl: .seconds(86_400),
            mode: .prearmed,
            onMissing: .cached
        )
        func local(_ time: Timestamp) -> String {
            let offset = zone.offsetSeconds(at: time)
            let text = (time + .seconds(offset)).iso8601.prefix(19)
            return "\(text)+\(offset / 3600)"
        }
        for (start, shown) in [
            (
                "2026-03-28T12:00:00Z",
                [
                    // 02:30 does not exist and fires at the end of the gap. The lead of 03:15 stays five minutes.
                    "2026-03-29T01:00:00.000Z", "2026-03-29T01:15:00.000Z", "2026-03-29T06:00:00.000Z",
                    "2026-03-30T00:30:00.000Z", "2026-03-30T01:15:00.000Z", "2026-03-30T06:00:00.000Z",
                ]
            ),
            (
                "2026-10-24T12:00:00Z",
                [
                    // 02:30 occurs twice and is shown the first time only.
                    "2026-10-25T00:30:00.000Z", "2026-10-25T02:15:00.000Z", "2026-10-25T07:00:00.000Z",
                    "2026-10-26T01:30:00.000Z", "2026-10-26T02:15:00.000Z", "2026-10-26T07:00:00.000Z",
                ]
            ),
        ] {
            var ledger = Ledger()
            var now = try at(start)
            let end = now + .seconds(2 * 86_400)
            while now <= end {
                let next = ledger.step(plan, now: now, local)
                // Like the service, which sleeps at most 30 s.
                now = max(min(next ?? end, now + .seconds(30)), now + .milliseconds(1))
            }
            print("Europe/Zurich from \(start)\n" + ledger.lines.joined(separator: "\n"))
            #expect(ledger.fired.map(\.fireAt.iso8601) == shown)
            #expect(ledger.fetched == ledger.fired)
            #expect(Set(ledger.fired).count == ledger.fired.count)
            #expect(!ledger.lines.contains { $0.contains("skipped") || $0.contains("cached") })
        }
    }
}
