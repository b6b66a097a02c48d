import StarwatchCore
import Testing

@Suite struct SlidingWindowTests {
    private let start = Timestamp(seconds: 1_767_225_600)

    @Test func admitsUpToTheLimitAndThenSaysWhen() {
        var window = SlidingWindow(limit: 3)
        for second in 0..<3 { #expect(window.admit(at: start + .seconds(second)) == .admitted) }
        #expect(window.room(at: start + .seconds(2)) == 0)
        let until = start + .milliseconds(60_001)
        #expect(window.admit(at: start + .seconds(3)) == .wait(until: until))
        #expect(window.admit(at: until - .milliseconds(1)) == .wait(until: until))
        #expect(window.admit(at: until) == .admitted)
    }

    @Test func costsWaitForEnoughOfTheOldest() {
        var window = SlidingWindow(limit: 10)
        #expect(window.admit(4, at: start) == .admitted)
        #expect(window.admit(4, at: start + .seconds(1)) == .admitted)
        #expect(window.admit(5, at: start + .seconds(2)) == .wait(until: start + .milliseconds(60_001)))
        #expect(window.admit(7, at: start + .seconds(2)) == .wait(until: start + .milliseconds(61_001)))
        // More than the limit is read as the limit.
        #expect(window.admit(50, at: start + .seconds(2)) == .wait(until: start + .milliseconds(61_001)))
        #expect(window.admit(50, at: start + .milliseconds(61_001)) == .admitted)
        #expect(window.admit(0, at: start + .milliseconds(61_001)) == .admitted)
    }

    /// Random arrivals, waits and restarts: no window of 60 s, ends included, ever holds more than the limit.
    @Test(arguments: 1...8)
    func noWindowEverHoldsMoreThanTheLimit(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        let limit = Int.random(in: 1...40, using: &random)
        var window = SlidingWindow(limit: limit)
        var now = start
        var admitted: [(time: Int64, cost: Int)] = []
        for _ in 0..<3000 {
            now = now + .milliseconds(Int64.random(in: 0...3000, using: &random))
            let cost = Bool.random(using: &random) ? 1 : Int.random(in: 1...limit, using: &random)
            switch window.admit(cost, at: now) {
            case .admitted: admitted.append((now.milliseconds, cost))
            case .wait(let until):
                #expect(until > now && until <= now + .milliseconds(60_001))
                if Int.random(in: 0..<4, using: &random) == 0 {
                    now = until
                    #expect(window.admit(cost, at: now) == .admitted)
                    admitted.append((now.milliseconds, cost))
                }
            }
            if Int.random(in: 0..<50, using: &random) == 0 {
                window = SlidingWindow(limit: limit, state: window.state, now: now)
            }
        }
        var first = 0
        var total = 0
        for entry in admitted {
            total += entry.cost
            while entry.time - admitted[first].time > 60_000 {
                total -= admitted[first].cost
                first += 1
            }
            #expect(total <= limit)
        }
    }

    @Test func theStateSurvivesARestart() {
        var window = SlidingWindow(limit: 2)
        _ = window.admit(at: start)
        _ = window.admit(at: start)
        #expect(window.state == [start.milliseconds, 2])
        var restored = SlidingWindow(limit: 2, state: window.state, now: start + .seconds(10))
        #expect(restored.admit(at: start + .seconds(10)) == .wait(until: start + .milliseconds(60_001)))
        // A smaller limit than what was spent under the old one.
        var smaller = SlidingWindow(limit: 1, state: window.state, now: start + .seconds(10))
        #expect(smaller.admit(at: start + .seconds(10)) == .wait(until: start + .milliseconds(60_001)))
    }

    @Test func aDamagedStateIsNotTrusted() {
        let far = start + .seconds(1_000_000)
        var window = SlidingWindow(limit: 1, state: [far.milliseconds, 1, 7, -5, 9], now: start)
        #expect(window.admit(at: start) == .wait(until: start + .milliseconds(60_001)))
    }

    @Test func aClockSetBackWaitsNoLongerThanAWindow() {
        var window = SlidingWindow(limit: 1)
        _ = window.admit(at: start)
        let earlier = start - .seconds(3600)
        #expect(window.admit(at: earlier) == .wait(until: earlier + .milliseconds(60_001)))
    }

    @Test func aClockSetForwardCanBeFollowed() {
        var window = SlidingWindow(limit: 1)
        _ = window.admit(at: start)
        window.shift(by: .seconds(3600))
        let later = start + .seconds(3600)
        #expect(window.admit(at: later + .seconds(1)) == .wait(until: later + .milliseconds(60_001)))
    }

    @Test func askingHowLongToWaitSpendsNothing() {
        var window = SlidingWindow(limit: 1)
        #expect(window.wait(for: 1, at: start) == nil)
        #expect(window.wait(for: 1, at: start) == nil)
        #expect(window.admit(at: start) == .admitted)
        #expect(window.wait(for: 1, at: start) == start + .milliseconds(60_001))
        #expect(window.wait(for: 0, at: start) == nil)
    }
}
