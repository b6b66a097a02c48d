/// Decides when something goes wrong. Every kind has a stream of its own, so that leaving one out changes the others
/// as little as can be.
final class FaultInjector: Sendable {
    private struct State {
        /// By kind; `nil` for one that does not happen.
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
    /// What each probability is multiplied with.
    private let intensity: Double

    /// - Parameters:
    ///   - kinds: Those that may happen.
    ///   - limit: How many may happen in all.
    init(seed: UInt64, kinds: Set<FaultKind>, limit: Int, intensity: Double) {
        let streams = FaultKind.allCases.map { kinds.contains($0) ? Chance(seed: seed, $0.name) : nil }
        state = Confined(State(streams: streams))
        self.limit = limit
        self.intensity = intensity
    }

    /// Whether `kind` happens now.
    func strikes(_ kind: FaultKind, _ probability: Double) -> Bool {
        let isStruck = mayStrike(kind, probability)
        if isStruck { happened(kind) }
        return isStruck
    }

    /// The same for one that happens later, if at all, and is told of then.
    func mayStrike(_ kind: FaultKind, _ probability: Double) -> Bool {
        state.value.mayStrike(kind, min(probability * intensity, 0.9), limit: limit)
    }

    func happened(_ kind: FaultKind) {
        state.value.total += 1
        state.value.counts[kind.rawValue] += 1
    }

    /// The first of `kinds` that happens now.
    func first(of kinds: [(FaultKind, Double)]) -> FaultKind? {
        kinds.first { strikes($0.0, $0.1) }?.0
    }

    /// A number that belongs to a fault that happens.
    func number(_ kind: FaultKind, _ range: ClosedRange<Int>) -> Int {
        state.value.streams[kind.rawValue]?.number(range) ?? range.lowerBound
    }

    /// Nothing goes wrong while `body` runs: it only looks.
    func pause<T>(_ body: () async throws -> T) async rethrows -> T {
        state.value.pauses += 1
        defer { state.value.pauses -= 1 }
        return try await body()
    }

    /// From now on nothing goes wrong.
    func end() { state.value.isOver = true }

    /// How often each kind happened; those only that did.
    var counts: [FaultKind: Int] {
        let counts = FaultKind.allCases.map { ($0, state.value.counts[$0.rawValue]) }
        return Dictionary(uniqueKeysWithValues: counts.filter { $0.1 > 0 })
    }
    var total: Int { state.value.total }
}
