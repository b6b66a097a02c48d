/// Promises that a run broke.
final class Violations: Sendable {
    private let found = Confined<[Violation]>([])
    private let trace: Trace

    init(trace: Trace) {
        self.trace = trace
    }

    func record(_ guarantee: Guarantee, _ detail: String) {
        trace.note("BROKEN \(guarantee.rawValue): \(detail)")
        found.value.append(Violation(guarantee: guarantee, detail: detail))
    }

    var all: [Violation] { found.value }
    var isEmpty: Bool { found.value.isEmpty }
}
