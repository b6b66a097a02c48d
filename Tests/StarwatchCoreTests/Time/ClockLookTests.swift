import StarwatchCore
import Testing

@Suite struct ClockLookTests {
    private let minute = Timestamp(seconds: 1_800_000_000)

    @Test func looksAreAtFullAndHalfMinutes() {
        #expect(ClockLook.next(after: minute) == minute + .seconds(30))
        #expect(ClockLook.next(after: minute + .milliseconds(1)) == minute + .seconds(30))
        #expect(ClockLook.next(after: minute + .milliseconds(29_999)) == minute + .seconds(30))
        #expect(ClockLook.next(after: minute + .seconds(30)) == minute + .seconds(60))
    }

    @Test func aWaitEndsAtTheNextLook() {
        #expect(ClockLook.wait(from: minute) == .seconds(30))
        #expect(ClockLook.wait(from: minute + .milliseconds(29_999)) == .milliseconds(1))
    }

    @Test(arguments: [-90_000, -60_001, -60_000, -59_999, -30_001, -1, 0] as [Int64])
    func aTimeBefore1970HasALaterLookToo(milliseconds: Int64) {
        let now = Timestamp(milliseconds: milliseconds)
        let next = ClockLook.next(after: now)
        #expect(next > now && next - now <= ClockLook.interval)
        #expect(next.milliseconds % 30_000 == 0)
    }
}
