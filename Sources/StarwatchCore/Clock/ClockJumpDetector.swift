/// The kinds of jumps of the local wall clock; the `kind` label.
public enum ClockJump: String, Sendable, CaseIterable {
    /// The wall clock was set forward.
    case forward
    /// The wall clock was set back.
    case backward
    /// The machine was suspended.
    case suspend
}

/// Detects steps of the wall clock and suspends by comparing the clocks.
public struct ClockJumpDetector: Sendable, Hashable {
    /// The clocks, read at the same moment.
    public struct Reading: Sendable, Hashable {
        public let wall: Timestamp
        /// Stands still while the machine is suspended.
        public let monotonic: Duration
        /// Runs even while the machine is suspended. `nil` where the system has no such clock; a suspend then looks
        /// like a step forward.
        public let boottime: Duration?

        public init(wall: Timestamp, monotonic: Duration, boottime: Duration?) {
            (self.wall, self.monotonic, self.boottime) = (wall, monotonic, boottime)
        }
    }

    /// A jump and its size. The size is positive for every kind.
    public struct Event: Sendable, Hashable {
        public let jump: ClockJump
        public let size: Duration

        public init(jump: ClockJump, size: Duration) {
            self.jump = jump
            self.size = size
        }
    }

    /// Smaller differences count as drift or slewing.
    private static let threshold = Duration.seconds(1)
    private var last: Reading?

    public init() {}

    /// Compares the clocks with the previous reading. The first reading yields nothing.
    ///
    /// - Returns: A suspend, a step, both (the suspend first), or nothing.
    public mutating func observe(_ reading: Reading) -> [Event] {
        defer { last = reading }
        guard let last else { return [] }
        var events: [Event] = []
        var passed = reading.monotonic - last.monotonic
        if let now = reading.boottime, let before = last.boottime {
            let asleep = now - before - passed
            if asleep > Self.threshold { events.append(Event(jump: .suspend, size: asleep)) }
            passed = now - before
        }
        let step = reading.wall - last.wall - passed
        if step > Self.threshold { events.append(Event(jump: .forward, size: step)) }
        if step < .zero - Self.threshold { events.append(Event(jump: .backward, size: .zero - step)) }
        return events
    }
}
