import StarwatchCore
import Testing

@Suite struct FetchBacklogTests {
    private let now = Timestamp(seconds: 1_767_225_600)

    @Test func theTimeLeftFollowsFromThePaceSinceTheFirstCycle() {
        var backlog = FetchBacklog(rest: .seconds(3600), since: now, at: .seconds(100))
        #expect(backlog.timeLeft == nil)
        backlog.move(to: .seconds(2400), at: .seconds(700))
        #expect(backlog.timeLeft == .seconds(1200))
        backlog.move(to: .seconds(600), at: .seconds(1300))
        #expect(backlog.timeLeft == .seconds(240) && backlog.since == now)
    }

    @Test func aBacklogThatGrowsOrCannotBeMeasuredHasNoTimeLeft() {
        var backlog = FetchBacklog(rest: .seconds(60), since: now, at: .zero)
        backlog.move(to: .seconds(61), at: .seconds(60))
        #expect(backlog.timeLeft == nil)
        backlog.move(to: nil, at: .seconds(120))
        #expect(backlog.timeLeft == nil && backlog.rest == nil)
    }
}
