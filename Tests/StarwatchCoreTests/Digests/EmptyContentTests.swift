import StarwatchCore
import Testing

/// Empty content and its treatment.
@Suite struct EmptyContentTests {
    private static let daily = DigestName("daily")!
    private static let fireAt = Timestamp(seconds: 1_777_622_400)

    @Test(arguments: [
        ("{}", true), (#"{"a": null}"#, true), (#"{"a": " \n\t"}"#, true), (#"{"a": [], "b": {"c": ["", {}]}}"#, true),
        (#"{"a": 0}"#, false), (#"{"a": false}"#, false), (#"{"a": "x"}"#, false), (#"{"a": [[], [0]]}"#, false),
        (#"{"a": "", "b": 1.5}"#, false),
    ])
    func contentWithOnlyEmptyFieldsIsEmpty(json: String, isEmpty: Bool) {
        #expect(DigestContent(json: Array(json.utf8))?.isEmpty == isEmpty)
    }

    @Test(arguments: [
        ("", true), (" \r\n", true), ("[]", true), ("null", true), (#"" ""#, true), ("[[], null]", true),
        ("0", false), ("[1]", false), ("nothing", false), ("{", false), ("false", false),
    ])
    func blankAnswersMeanNoContent(text: String, isNothing: Bool) {
        #expect(DigestContent.isNothing(Array(text.utf8)) == isNothing)
    }

    private func decide(
        _ onEmpty: EmptyContent,
        _ prefetch: DigestRow.Prefetch,
        onMissing: DigestFallback = .cached,
        armed: DigestText? = nil,
        ttl: Duration = .seconds(3600),
        now: Timestamp = fireAt
    ) -> DigestDecision {
        var plan = DigestPlan(
            name: Self.daily,
            times: [DayTime("08:00")!],
            zone: FixedZone.utc,
            lead: .seconds(300),
            ttl: ttl,
            mode: .prearmed,
            onMissing: onMissing
        )
        plan.onEmpty = onEmpty
        let row = DigestRow(
            DigestOccurrence(digest: Self.daily, slot: "daily/slot-08-00", fireAt: Self.fireAt),
            arming: armed.map { .init(text: $0, fingerprint: 0) },
            prefetch: prefetch
        )
        return DigestDecision.decide(
            plans: [plan],
            rows: [row],
            contents: [Self.daily: Self.fireAt - .seconds(300)],
            empty: [Self.daily],
            armedThrough: [:],
            now: now
        )
    }

    @Test func emptyContentIsSkippedAndIsNotAFailure() {
        let decision = decide(.skip, .succeeded)
        #expect(decision.fired.isEmpty)
        #expect(decision.skipped.map(\.code) == [.empty] && decision.skipped.map(\.status) == [.skipped])
        // The fixed text replaces missing content, not empty content.
        #expect(decide(.skip, .succeeded, onMissing: .fallback).skipped.map(\.code) == [.empty])
        #expect(decide(.show, .succeeded).fired.map(\.text) == [.fresh(Self.fireAt - .seconds(300))])
    }

    @Test func emptyContentOfAnotherOccurrenceCountsAsMissing() {
        let cached = decide(.skip, .failed)
        #expect(cached.skipped.map(\.code) == [.noContent] && cached.skipped.map(\.status) == [.skippedStale])
        #expect(decide(.skip, .failed, onMissing: .fallback).fired.map(\.text) == [.fallback])
        #expect(decide(.skip, .failed, ttl: .seconds(60)).skipped.map(\.code) == [.stale])
        #expect(decide(.show, .failed).fired.map(\.text) == [.cached(Self.fireAt - .seconds(300))])
    }

    @Test func emptyContentDisarmsAnArmedText() {
        let early = Self.fireAt - .seconds(200)
        let armed = DigestText.fresh(Self.fireAt - .seconds(300))
        #expect(decide(.skip, .succeeded, armed: armed, now: early).armed.map(\.text) == [nil])
        #expect(decide(.show, .succeeded, armed: armed, now: early).armed.isEmpty)
    }

    // MARK: - Asked for

    private func show(contentAt: Timestamp?, isEmpty: Bool = false, onEmpty: EmptyContent = .show) -> DigestDecision {
        var plan = DigestPlan(
            name: Self.daily,
            times: [],
            zone: FixedZone.utc,
            lead: .seconds(300),
            ttl: .seconds(3600),
            mode: .chained,
            onMissing: .skip
        )
        plan.onEmpty = onEmpty
        return DigestDecision.show(plan, contentAt: contentAt, isEmpty: isEmpty, at: Self.fireAt)
    }

    @Test func requestsShowTheContentOrTheFixedText() {
        let (young, old) = (Self.fireAt - .seconds(3600), Self.fireAt - .seconds(3601))
        #expect(show(contentAt: young).fired.map(\.text) == [.cached(young)])
        #expect(show(contentAt: old).fired.map(\.text) == [.fallback])
        #expect(show(contentAt: nil).fired.map(\.text) == [.fallback])
        #expect(show(contentAt: young, isEmpty: true).fired.map(\.text) == [.cached(young)])
        #expect(show(contentAt: young, isEmpty: true, onEmpty: .skip).skipped.map(\.code) == [.empty])
        let occurrence = show(contentAt: nil).fired.first?.occurrence
        #expect(occurrence?.slot == "daily/now" && occurrence?.isPlanned == false)
    }
}
