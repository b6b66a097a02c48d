/// What the local wall clock did that time does not do; the `kind` label.
public enum ClockJump: String, Sendable, CaseIterable {
    /// The wall clock was set forward.
    case forward
    /// The wall clock was set back.
    case backward
    /// The machine slept.
    case suspend
}

/// Notices steps of the wall clock and suspends, by holding the clocks against each other.
public struct ClockJumpDetector: Sendable, Hashable {
    /// The clocks, read together.
    public struct Reading: Sendable, Hashable {
        public let wall: Timestamp
        /// Runs while the machine runs.
        public let monotonic: Duration
        /// Runs also while the machine sleeps; `nil` where there is no such clock, and then a suspend looks like a
        /// step forward.
        public let boottime: Duration?

        public init(wall: Timestamp, monotonic: Duration, boottime: Duration?) {
            self.wall = wall
            self.monotonic = monotonic
            self.boottime = boottime
        }
    }

    /// A jump and its size, which is positive for each kind.
    public struct Event: Sendable, Hashable {
        public let jump: ClockJump
        public let size: Duration

        public init(jump: ClockJump, size: Duration) {
            self.jump = jump
            self.size = size
        }
    }

    /// Smaller differences are drift and slewing; 1 s by default.
    public let threshold: Duration
    private var last: Reading?

    public init(threshold: Duration = .seconds(1)) {
        self.threshold = threshold
    }

    /// Compares with the reading before. The first reading has nothing to be compared with.
    ///
    /// - Returns: A suspend, a step, both (suspend first), or nothing.
    public mutating func observe(_ reading: Reading) -> [Event] {
        defer { last = reading }
        guard let last else { return [] }
        var events: [Event] = []
        var passed = reading.monotonic - last.monotonic
        if let now = reading.boottime, let before = last.boottime {
            let asleep = now - before - passed
            if asleep > threshold { events.append(Event(jump: .suspend, size: asleep)) }
            passed = now - before
        }
        let step = reading.wall - last.wall - passed
        if step > threshold { events.append(Event(jump: .forward, size: step)) }
        if step < .zero - threshold { events.append(Event(jump: .backward, size: .zero - step)) }
        return events
    }
}
