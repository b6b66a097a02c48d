import StarwatchCore
import Testing

@Suite struct SlidingWindowTests {
    private let start = Timestamp(seconds: 1_767_225_600)

    @Test func admitsUpToTheLimitAndThenReturnsTheWait() {
        var window = SlidingWindow(limit: 3)
        for second in 0..<3 { #expect(window.pass(at: start + .seconds(second)) == .admitted) }
        #expect(window.room(at: start + .seconds(2)) == 0)
        let until = start + .milliseconds(60_001)
        #expect(window.pass(at: start + .seconds(3)) == .wait(until: until))
        #expect(window.pass(at: until - .milliseconds(1)) == .wait(until: until))
        #expect(window.pass(at: until) == .admitted)
    }

    @Test func costsWaitForEnoughOfTheOldest() {
        var window = SlidingWindow(limit: 10)
        #expect(window.pass(4, at: start) == .admitted)
        #expect(window.pass(4, at: start + .seconds(1)) == .admitted)
        #expect(window.pass(5, at: start + .seconds(2)) == .wait(until: start + .milliseconds(60_001)))
        #expect(window.pass(7, at: start + .seconds(2)) == .wait(until: start + .milliseconds(61_001)))
        // A cost above the limit counts as the limit.
        #expect(window.pass(50, at: start + .seconds(2)) == .wait(until: start + .milliseconds(61_001)))
        #expect(window.pass(50, at: start + .milliseconds(61_001)) == .admitted)
        #expect(window.pass(0, at: start + .milliseconds(61_001)) == .admitted)
    }

    @Test func runningRequestsCountUntilSixtySecondsAfterTheirEnd() {
        var window = SlidingWindow(limit: 2)
        #expect(window.admit(at: start) == .admitted)
        #expect(window.pass(at: start + .seconds(1)) == .admitted)
        #expect(window.room(at: start + .seconds(1)) == 0)
        #expect(window.admit(at: start + .seconds(2)) == .wait(until: start + .milliseconds(61_001)))
        #expect(window.admit(at: start + .milliseconds(61_001)) == .admitted)
        // However long a request takes, nothing is free before one ends.
        let late = start + .seconds(300)
        #expect(window.admit(at: late) == .wait(until: late + .milliseconds(60_001)))
        window.end(at: late)
        #expect(window.admit(at: late + .seconds(1)) == .wait(until: late + .milliseconds(60_001)))
        #expect(window.admit(at: late + .milliseconds(60_001)) == .admitted)
        // More ends than admissions have no effect.
        for _ in 0..<9 { window.end(at: late + .milliseconds(60_002)) }
        #expect(window.room(at: late + .milliseconds(60_002)) == 0)
    }

    /// A server that counts each request at any moment between admission and end never counts too many.
    @Test(arguments: 1...8)
    func noServerWindowExceedsTheLimit(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        let limit = Int.random(in: 1...40, using: &random)
        var window = SlidingWindow(limit: limit)
        var now = start
        var counted: [(time: Int64, cost: Int)] = []
        var open: [(end: Timestamp, cost: Int)] = []
        for _ in 0..<3000 {
            now = now + .milliseconds(Int64.random(in: 0...3000, using: &random))
            for ended in open.filter({ $0.end <= now }).sorted(by: { $0.end < $1.end }) {
                window.end(ended.cost, at: ended.end)
            }
            open.removeAll { $0.end <= now }
            let cost = Bool.random(using: &random) ? 1 : Int.random(in: 1...limit, using: &random)
            guard window.admit(cost, at: now) == .admitted else { continue }
            let length = Int64.random(in: 0...100_000, using: &random)
            open.append((now + .milliseconds(length), cost))
            counted.append((now.milliseconds + Int64.random(in: 0...length, using: &random), cost))
        }
        counted.sort { $0.time < $1.time }
        let sums = counted.enumerated().map { index, first in
            counted[index...].prefix { $0.time - first.time <= 60_000 }.reduce(0) { $0 + $1.cost }
        }
        #expect(sums.max()! <= limit && counted.count > limit)
    }

    /// Random arrivals, waits and restarts: no window of 60 s, including its ends, exceeds the limit.
    @Test(arguments: 1...8)
    func noWindowExceedsTheLimit(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        let limit = Int.random(in: 1...40, using: &random)
        var window = SlidingWindow(limit: limit)
        var now = start
        var admitted: [(time: Int64, cost: Int)] = []
        for _ in 0..<3000 {
            now = now + .milliseconds(Int64.random(in: 0...3000, using: &random))
            let cost = Bool.random(using: &random) ? 1 : Int.random(in: 1...limit, using: &random)
            switch window.pass(cost, at: now) {
            case .admitted: admitted.append((now.milliseconds, cost))
            case .wait(let until):
                #expect(until > now && until <= now + .milliseconds(60_001))
                if Int.random(in: 0..<4, using: &random) == 0 {
                    now = until
                    #expect(window.pass(cost, at: now) == .admitted)
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
        _ = window.pass(at: start)
        _ = window.pass(at: start)
        #expect(window.state == [start.milliseconds, 2])
        var restored = SlidingWindow(limit: 2, state: window.state, now: start + .seconds(10))
        #expect(restored.pass(at: start + .seconds(10)) == .wait(until: start + .milliseconds(60_001)))
        // The new limit is smaller than the cost spent under the old one.
        var smaller = SlidingWindow(limit: 1, state: window.state, now: start + .seconds(10))
        #expect(smaller.pass(at: start + .seconds(10)) == .wait(until: start + .milliseconds(60_001)))
    }

    @Test func aDamagedStateIsDropped() {
        let far = start + .seconds(1_000_000)
        var window = SlidingWindow(limit: 1, state: [far.milliseconds, 1, 7, -5, 9], now: start)
        #expect(window.pass(at: start) == .wait(until: start + .milliseconds(60_001)))
    }

    @Test func aClockSetBackWaitsNoLongerThanAWindow() {
        var window = SlidingWindow(limit: 1)
        _ = window.pass(at: start)
        let earlier = start - .seconds(3600)
        #expect(window.pass(at: earlier) == .wait(until: earlier + .milliseconds(60_001)))
    }

    @Test func aClockSetForwardCanBeFollowed() {
        var window = SlidingWindow(limit: 1)
        _ = window.pass(at: start)
        window.shift(by: .seconds(3600))
        let later = start + .seconds(3600)
        #expect(window.pass(at: later + .seconds(1)) == .wait(until: later + .milliseconds(60_001)))
    }

    @Test func readingTheWaitSpendsNothing() {
        var window = SlidingWindow(limit: 1)
        #expect(window.wait(for: 1, at: start) == nil)
        #expect(window.wait(for: 1, at: start) == nil)
        #expect(window.pass(at: start) == .admitted)
        #expect(window.wait(for: 1, at: start) == start + .milliseconds(60_001))
        #expect(window.wait(for: 0, at: start) == nil)
    }
}

extension SlidingWindow {
    /// Admits a request and ends it at once.
    fileprivate mutating func pass(_ cost: Int = 1, at now: Timestamp) -> Admission {
        let admission = admit(cost, at: now)
        if admission == .admitted { end(cost, at: now) }
        return admission
    }
}
