/// State that only the thread of one simulation touches.
///
/// `@unchecked Sendable`: every access checks that the thread is owned by the loop that touched it first.
final class Confined<Value>: @unchecked Sendable {
    private var stored: Value
    private unowned(unsafe) var owner: SimulationLoop?

    init(_ value: Value) {
        stored = value
    }

    var value: Value {
        get {
            check()
            return stored
        }
        _modify {
            check()
            yield &stored
        }
    }

    private func check() {
        let current = SimulationLoop.current
        precondition(current != nil)
        if owner == nil { owner = current }
        precondition(owner === current)
    }
}
