import StarwatchCore
import Testing

@Suite struct GroupingDecisionTests {
    private let now = Timestamp(seconds: 1_767_225_600)

    private func decide(oldest: Int64?, notified: Int64?, wait: Int64 = 0, interval: Int64 = 300) -> GroupingDecision {
        .decide(
            now: now,
            oldestWaiting: oldest.map { now + .seconds($0) },
            lastNotified: notified.map { now + .seconds($0) },
            groupWait: .seconds(wait),
            groupInterval: .seconds(interval)
        )
    }

    @Test func theFirstGroupWaitsAndTheNextKeepsTheInterval() {
        #expect(decide(oldest: nil, notified: nil) == .idle)
        #expect(decide(oldest: 0, notified: nil) == .notify)
        #expect(decide(oldest: -9, notified: nil, wait: 10) == .wait(until: now + .seconds(1)))
        #expect(decide(oldest: -10, notified: nil, wait: 10) == .notify)
        #expect(decide(oldest: -10, notified: -299) == .wait(until: now + .seconds(1)))
        #expect(decide(oldest: -10, notified: -300) == .notify)
    }

    /// Counting them as now would postpone the announcement at every look, until the clock has caught up.
    @Test func timesFromTheFutureDoNotWait() {
        #expect(decide(oldest: 99_999, notified: nil, wait: 10) == .notify)
        #expect(decide(oldest: 0, notified: 99_999) == .notify)
        #expect(decide(oldest: -10, notified: 99_999, wait: 20) == .wait(until: now + .seconds(10)))
    }

    @Test(arguments: [(1, NotificationGroup.single), (2, .several), (5, .several), (6, .many), (5000, .many)])
    func groupsAreNamedByTheirSize(count: Int, group: NotificationGroup) {
        #expect(NotificationGroup(count: count) == group)
    }

    @Test func aLimitOfOneHasNoSeveral() {
        #expect(NotificationGroup(count: 2, largest: 1) == .many)
    }
}
