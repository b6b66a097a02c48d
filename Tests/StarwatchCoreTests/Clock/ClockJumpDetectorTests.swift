import StarwatchCore
import Testing

@Suite struct ClockJumpDetectorTests {
    private let start = Timestamp(seconds: 1_767_225_600)

    private func events(wall: Int64, monotonic: Int64, boottime: Int64?) -> [ClockJumpDetector.Event] {
        var detector = ClockJumpDetector()
        #expect(
            detector.observe(
                .init(wall: start, monotonic: .seconds(100), boottime: boottime.map { _ in .seconds(100) })
            ).isEmpty
        )
        return detector.observe(
            .init(
                wall: start + .milliseconds(wall),
                monotonic: .seconds(100) + .milliseconds(monotonic),
                boottime: boottime.map { .seconds(100) + .milliseconds($0) }
            )
        )
    }

    @Test func agreeingClocksYieldNoEvent() {
        #expect(events(wall: 30_000, monotonic: 30_000, boottime: 30_000).isEmpty)
        #expect(events(wall: 30_900, monotonic: 30_000, boottime: 30_000).isEmpty)
        #expect(events(wall: 29_000, monotonic: 30_000, boottime: nil).isEmpty)
    }

    @Test func stepsHaveADirection() {
        #expect(
            events(wall: 3_630_000, monotonic: 30_000, boottime: 30_000) == [
                .init(jump: .forward, size: .seconds(3600))
            ]
        )
        #expect(
            events(wall: -3_570_000, monotonic: 30_000, boottime: nil) == [.init(jump: .backward, size: .seconds(3600))]
        )
    }

    @Test func aSuspendIsNotAStep() {
        #expect(
            events(wall: 630_000, monotonic: 30_000, boottime: 630_000) == [.init(jump: .suspend, size: .seconds(600))]
        )
        #expect(events(wall: 630_000, monotonic: 30_000, boottime: nil) == [.init(jump: .forward, size: .seconds(600))])
    }

    @Test func aSuspendAndAStepAreTwoEvents() {
        #expect(
            events(wall: 30_000, monotonic: 30_000, boottime: 630_000)
                == [.init(jump: .suspend, size: .seconds(600)), .init(jump: .backward, size: .seconds(600))]
        )
    }
}
