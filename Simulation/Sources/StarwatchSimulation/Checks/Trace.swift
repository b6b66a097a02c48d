/// Hash of all events of a run, and the text of the last ones.
final class Trace: Sendable {
    private struct State {
        var fingerprint = Fingerprint()
        var count = 0
        var last: [String] = []
    }

    private let state = Confined(State())
    private let clock: SimulatedClock
    private let kept: Int

    /// - Parameter kept: Number of lines to keep.
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
