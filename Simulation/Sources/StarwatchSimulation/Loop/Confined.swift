/// State that only the thread of one simulation accesses.
///
/// `@unchecked Sendable`: every access checks that the current thread belongs to the loop of the first access.
final class Confined<Value>: @unchecked Sendable {
    private var stored: Value
    @exclusivity(unchecked) private var owner: SimulationLoop.Identity?

    init(_ value: Value) {
        stored = value
    }

    var value: Value {
        _read {
            check()
            yield stored
        }
        _modify {
            check()
            yield &stored
        }
    }

    private func check() {
        let current = SimulationLoop.currentIdentity
        if owner == nil { owner = current }
        precondition(current != nil && owner == current)
    }
}
