/// Decides when a fault happens.
///
/// Every kind has its own random stream, so that excluding one changes the others as little as possible.
final class FaultInjector: Sendable {
    private struct State {
        /// Random streams by kind; `nil` for an excluded kind.
        var streams: [Chance?]
        var counts = FaultKind.allCases.map { _ in 0 }
        var total = 0
        var pauses = 0
        var isOver = false

        mutating func mayStrike(_ kind: FaultKind, _ probability: Double, limit: Int) -> Bool {
            pauses == 0 && !isOver && total < limit && streams[kind.rawValue]?.happens(probability) == true
        }
    }

    private let state: Confined<State>
    private let limit: Int
    /// Factor of every probability.
    private let intensity: Double

    /// - Parameters:
    ///   - kinds: Kinds that can happen.
    ///   - limit: Maximum number of faults.
    init(seed: UInt64, kinds: Set<FaultKind>, limit: Int, intensity: Double) {
        let streams = FaultKind.allCases.map { kinds.contains($0) ? Chance(seed: seed, $0.name) : nil }
        state = Confined(State(streams: streams))
        self.limit = limit
        self.intensity = intensity
    }

    /// Returns `true` if `kind` happens now, and counts it.
    func strikes(_ kind: FaultKind, _ probability: Double) -> Bool {
        let isStruck = mayStrike(kind, probability)
        if isStruck { happened(kind) }
        return isStruck
    }

    /// Returns `true` if `kind` can happen soon; the caller reports it with ``happened(_:)`` when it does.
    func mayStrike(_ kind: FaultKind, _ probability: Double) -> Bool {
        state.value.mayStrike(kind, min(probability * intensity, 0.9), limit: limit)
    }

    func happened(_ kind: FaultKind) {
        state.value.total += 1
        state.value.counts[kind.rawValue] += 1
    }

    /// Returns the first of `kinds` that happens now, and counts it.
    func first(of kinds: [(FaultKind, Double)]) -> FaultKind? {
        kinds.first { strikes($0.0, $0.1) }?.0
    }

    /// Returns a random number for a fault that happens.
    func number(_ kind: FaultKind, _ range: ClosedRange<Int>) -> Int {
        state.value.streams[kind.rawValue]?.number(range) ?? range.lowerBound
    }

    /// Runs `body` without faults, because it only observes.
    func pause<T>(_ body: () async throws -> T) async rethrows -> T {
        state.value.pauses += 1
        defer { state.value.pauses -= 1 }
        return try await body()
    }

    /// Ends all faults.
    func end() { state.value.isOver = true }

    /// Number of faults by kind, without kinds that did not happen.
    var counts: [FaultKind: Int] {
        let counts = FaultKind.allCases.map { ($0, state.value.counts[$0.rawValue]) }
        return Dictionary(uniqueKeysWithValues: counts.filter { $0.1 > 0 })
    }
    var total: Int { state.value.total }
}
