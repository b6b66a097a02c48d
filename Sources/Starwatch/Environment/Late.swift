import Synchronization

/// A value that is made at its first use: most visits use few of an account's services.
final class Late<Value: Sendable>: Sendable {
    private let state: Mutex<Value?> = Mutex(nil)
    private let make: @Sendable () -> Value

    init(_ make: @escaping @Sendable () -> Value) { self.make = make }

    var value: Value {
        state.withLock { state in
            if let value = state { return value }
            let value = make()
            state = value
            return value
        }
    }
}
