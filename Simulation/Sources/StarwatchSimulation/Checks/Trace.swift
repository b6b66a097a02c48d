/// All that happened in a run, as one number; and the last of it in words, to be read when a promise was broken.
final class Trace: Sendable {
    private struct State {
        var fingerprint = Fingerprint()
        var count = 0
        var last: [String] = []
    }

    private let state = Confined(State())
    private let clock: SimulatedClock
    private let kept: Int

    /// - Parameter kept: How many of the last lines are kept.
    init(clock: SimulatedClock, kept: Int) {
        self.clock = clock
        self.kept = kept
    }

    func note(_ line: String) {
        let moment = clock.boot
        state.value.fingerprint.add(moment)
        state.value.fingerprint.add(line)
        state.value.count += 1
        guard kept > 0 else { return }
        if state.value.last.count >= kept * 2 { state.value.last.removeFirst(kept) }
        state.value.last.append("\(moment) \(line)")
    }

    var hash: UInt64 { state.value.fingerprint.value }
    var count: Int { state.value.count }
    var lines: [String] { state.value.last.suffix(kept) }
}
