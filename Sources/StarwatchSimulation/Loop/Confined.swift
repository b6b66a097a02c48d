/// State that only the thread of one simulation touches.
///
/// `@unchecked Sendable`: every access checks that a loop owns the thread, and no two simulations share a box.
final class Confined<Value>: @unchecked Sendable {
    private var stored: Value

    init(_ value: Value) {
        stored = value
    }

    var value: Value {
        get {
            precondition(SimulationLoop.current != nil)
            return stored
        }
        _modify {
            precondition(SimulationLoop.current != nil)
            yield &stored
        }
    }
}
