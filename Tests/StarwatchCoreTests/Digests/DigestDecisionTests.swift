import StarwatchCore
import Testing

@Suite struct DigestDecisionTests {
    private static let daily = DigestName("daily")!

    private func plan(
        _ times: [String] = ["08:00"],
        mode: DigestMode = .prearmed,
        onMissing: DigestFallback = .cached,
        ttl: Duration = .seconds(86_400),
        fingerprint: Int64 = 1
    ) -> DigestPlan {
        var plan = DigestPlan(
            name: Self.daily,
            times: times.compactMap { DayTime($0) },
            zone: FixedZone.utc,
            lead: .seconds(300),
            ttl: ttl,
            mode: mode,
            onMissing: onMissing
        )
        plan.fingerprint = fingerprint
        return plan
    }

    private func decide(
        _ plan: DigestPlan,
        _ rows: [DigestRow] = [],
        content: String? = nil,
        armedThrough: String? = nil,
        now: String
    ) throws -> DigestDecision {
        DigestDecision.decide(
            plans: [plan],
            rows: rows,
            contents: try content.map { [Self.daily: try at($0)] } ?? [:],
            armedThrough: try armedThrough.map { [Self.daily: try at($0)] } ?? [:],
            now: try at(now)
        )
    }

    private func occurrence(_ fireAt: String = "2026-05-02T08:00:00Z") throws -> DigestOccurrence {
        DigestOccurrence(digest: Self.daily, slot: "daily/slot-08-00", fireAt: try at(fireAt))
    }

    private func armed(_ text: DigestText, _ fingerprint: Int64 = 1) -> DigestRow.Arming {
        DigestRow.Arming(text: text, fingerprint: fingerprint)
    }

    @Test func aDelayMovesOccurrencesAndKeepsTheirSlots() throws {
        var plan = plan(["08:00", "23:59"])
        plan.delay = .seconds(90)
        let found = plan.occurrences(after: try at("2026-05-01T08:01:29Z"), through: try at("2026-05-02T08:01:30Z"))
        #expect(
            found.map(\.fireAt) == [
                try at("2026-05-01T08:01:30Z"), try at("2026-05-02T08:01:30Z"), try at("2026-05-02T00:00:30Z"),
            ]
        )
        #expect(found.map(\.slot) == ["daily/slot-08-00", "daily/slot-08-00", "daily/slot-23-59"])
        #expect(try decide(plan, now: "2026-05-01T08:01:00Z").scheduled.map(\.occurrence) == [found[0], found[2]])
    }

    // MARK: - What is armed

    @Test func eachSlotIsPlannedADayAhead() throws {
        let decision = try decide(plan(["08:00", "17:30"]), now: "2026-05-01T12:00:00Z")
        #expect(
            decision.scheduled.map(\.occurrence.fireAt.iso8601) == [
                "2026-05-02T08:00:00.000Z", "2026-05-01T17:30:00.000Z",
            ]
        )
        #expect(decision.scheduled.map(\.occurrence.slot) == ["daily/slot-08-00", "daily/slot-17-30"])
        #expect(decision.next == (try at("2026-05-01T17:25:00Z")))
    }

    @Test(
        arguments: [
            (DigestFallback.cached, "2026-05-01T09:00:00Z", "cached"), (.fallback, "2026-05-01T09:00:00Z", "cached"),
            (.skip, "2026-05-01T09:00:00Z", "none"), (.cached, "2026-05-01T07:00:00Z", "none"),
            (.fallback, "2026-05-01T07:00:00Z", "fallback"), (.cached, nil, "none"), (.fallback, nil, "fallback"),
            // Exactly as old as allowed at the time it is shown.
            (.cached, "2026-05-01T08:00:00Z", "cached"), (.cached, "2026-05-01T07:59:59Z", "none"),
        ] as [(DigestFallback, String?, String)]
    )
    func armedTextsDependOnTheStoredContent(onMissing: DigestFallback, content: String?, kind: String) throws {
        let decision = try decide(plan(onMissing: onMissing), content: content, now: "2026-05-01T12:00:00Z")
        let text = try #require(decision.scheduled.first).text
        let found =
            switch text {
            case nil: "none"
            case .fresh: "fresh"
            case .cached: "cached"
            case .fallback: "fallback"
            }
        #expect(found == kind)
    }

    @Test func newContentAndNewWordingReplaceTheText() throws {
        let content = "2026-05-02T07:55:01Z"
        let old = armed(.cached(try at("2026-05-01T09:00:00Z")))
        let row = DigestRow(try occurrence(), arming: old, prefetch: .succeeded)
        let replaced = try decide(plan(), [row], content: content, now: "2026-05-02T07:55:02Z")
        #expect(replaced.armed.map(\.text) == [.fresh(try at(content))])
        let current = DigestRow(try occurrence(), arming: armed(.fresh(try at(content))), prefetch: .succeeded)
        #expect(try decide(plan(), [current], content: content, now: "2026-05-02T07:56:00Z").armed.isEmpty)
        let reworded = try decide(plan(fingerprint: 2), [current], content: content, now: "2026-05-02T07:56:00Z")
        #expect(reworded.armed.count == 1)
    }

    @Test func chainedDigestsAreArmedAfterTheirFetch() throws {
        let (content, now) = ("2026-05-01T09:00:00Z", "2026-05-02T07:56:00Z")
        let chained = plan(mode: .chained)
        #expect(try decide(chained, content: content, now: now).scheduled.map(\.text) == [nil])
        for (prefetch, text) in [
            (DigestRow.Prefetch.none, nil), (.started, nil), (.failed, DigestText.cached(try at(content))),
            (.succeeded, .fresh(try at(content))),
        ] {
            let row = DigestRow(try occurrence(), prefetch: prefetch)
            let decision = try decide(chained, [row], content: content, now: now)
            #expect(decision.armed.map(\.text) == (text.map { [$0] } ?? []), "\(prefetch)")
        }
        // A fetch that never ends must not block the occurrence for ever.
        let row = DigestRow(try occurrence(), prefetch: .started)
        let due = try decide(chained, [row], content: content, now: "2026-05-02T08:00:00Z")
        #expect(due.fired.map(\.text) == [.cached(try at(content))])
    }

    // MARK: - What is fetched

    @Test(arguments: [
        ("2026-05-02T07:54:59Z", 0), ("2026-05-02T07:55:00Z", 1), ("2026-05-02T07:59:59Z", 1),
        ("2026-05-02T08:00:00Z", 0), ("2026-05-02T08:05:00Z", 0),
    ])
    func oneFetchIsDueFromTheLeadUntilTheTime(now: String, count: Int) throws {
        let row = DigestRow(try occurrence(), arming: armed(.fallback))
        let decision = try decide(plan(onMissing: .fallback), [row], now: now)
        #expect(decision.prefetches.count == count)
        for prefetch in [DigestRow.Prefetch.started, .succeeded, .failed] {
            var spent = row
            spent.prefetch = prefetch
            #expect(try decide(plan(onMissing: .fallback), [spent], now: now).prefetches.isEmpty)
        }
    }

    // MARK: - What is fired

    @Test(arguments: [
        ("2026-05-02T07:59:59.999Z", 0, 0), ("2026-05-02T08:00:00Z", 1, 0), ("2026-05-02T08:10:00Z", 1, 0),
        ("2026-05-02T08:10:00.001Z", 0, 1), ("2026-05-04T07:00:00Z", 0, 2),
    ])
    func armedOccurrencesFireAtTheirTimeAndWithinTheGrace(now: String, fired: Int, missed: Int) throws {
        let row = DigestRow(try occurrence(), arming: armed(.fallback))
        let decision = try decide(plan(onMissing: .fallback), [row], now: now)
        #expect(decision.fired.count == fired)
        #expect(decision.skipped.count == missed)
        #expect(decision.skipped.allSatisfy { $0.code == .missed })
    }

    @Test func staleContentIsSkippedAsStale() throws {
        let now = "2026-05-02T08:00:00Z"
        let row = DigestRow(try occurrence(), prefetch: .failed)
        let stale = try decide(plan(ttl: .seconds(3600)), [row], content: "2026-05-02T06:59:59Z", now: now)
        #expect(stale.skipped.map(\.code) == [.stale] && stale.fired.isEmpty)
        let young = try decide(plan(ttl: .seconds(3600)), [row], content: "2026-05-02T07:00:00Z", now: now)
        #expect(young.fired.count == 1)
        #expect(try decide(plan(), [row], now: now).skipped.map(\.code) == [.noContent])
        let strict = try decide(plan(onMissing: .skip), [row], content: "2026-05-02T07:00:00Z", now: now)
        #expect(strict.skipped.map(\.code) == [.noContent])
    }

    @Test func firedAndEndedOccurrencesStayUnchanged() throws {
        for row in [
            DigestRow(try occurrence(), arming: armed(.fallback), isFired: true),
            DigestRow(try occurrence(), status: .shown, isFired: true), DigestRow(try occurrence(), status: .error),
            DigestRow(try occurrence(), status: .skippedStale),
        ] {
            let decision = try decide(plan(onMissing: .fallback), [row], now: "2026-05-02T08:05:00Z")
            #expect(decision.fired.isEmpty && decision.skipped.isEmpty && decision.dropped.isEmpty)
        }
    }

    // MARK: - Restarts, clocks, zones

    @Test func occurrencesDuringDowntimeFireWithinTheGraceOrAreRecorded() throws {
        let decision = try decide(
            plan(onMissing: .fallback),
            armedThrough: "2026-04-29T12:00:00Z",
            now: "2026-05-02T08:09:00Z"
        )
        #expect(decision.fired.map(\.occurrence.fireAt.iso8601) == ["2026-05-02T08:00:00.000Z"])
        #expect(decision.skipped.map(\.occurrence.fireAt.iso8601).count == 2)
        #expect(decision.scheduled.map(\.occurrence.fireAt.iso8601) == ["2026-05-03T08:00:00.000Z"])
    }

    @Test func newDigestsHaveNoMissedOccurrences() throws {
        let decision = try decide(plan(onMissing: .fallback), now: "2026-05-02T08:01:00Z")
        #expect(decision.fired.isEmpty && decision.skipped.isEmpty)
        #expect(decision.scheduled.map(\.occurrence.fireAt.iso8601) == ["2026-05-03T08:00:00.000Z"])
    }

    @Test func anotherZoneReplacesArmedOccurrences() throws {
        let row = DigestRow(try occurrence(), arming: armed(.fallback))
        var moved = plan(onMissing: .fallback)
        moved.zone = FixedZone(identifier: "East", offsetSeconds: 3600)
        let decision = try decide(moved, [row], armedThrough: "2026-05-02T12:00:00Z", now: "2026-05-01T12:00:00Z")
        #expect(decision.dropped == [try occurrence()])
        #expect(decision.scheduled.map(\.occurrence.fireAt.iso8601) == ["2026-05-02T07:00:00.000Z"])
    }

    @Test func settingBackAClockThatWasAheadCostsNoDays() throws {
        let row = DigestRow(try occurrence(), status: .skippedStale)
        let decision = try decide(plan(onMissing: .fallback), [row], now: "2026-05-01T12:00:00Z")
        #expect(decision.dropped == [try occurrence()])
        // A shown occurrence must not come twice.
        let shown = DigestRow(try occurrence(), status: .shown, isFired: true)
        let again = try decide(plan(onMissing: .fallback), [shown], now: "2026-05-01T12:00:00Z")
        #expect(again.dropped.isEmpty && again.scheduled.isEmpty)
    }

    @Test func aRemovedTimeIsDropped() throws {
        let row = DigestRow(try occurrence(), arming: armed(.fallback))
        let decision = try decide(plan(["09:00"]), [row], now: "2026-05-01T12:00:00Z")
        #expect(decision.dropped == [try occurrence()])
    }
}
