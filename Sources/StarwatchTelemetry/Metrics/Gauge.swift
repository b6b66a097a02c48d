import Synchronization

/// A value that can increase and decrease.
package final class Gauge: Sendable {
    private let bits = Atomic<UInt64>(Double(0).bitPattern)

    init() {}

    package func set(_ value: Double) { bits.store(value.bitPattern, ordering: .relaxed) }

    /// Sets 1 for true, 0 for false.
    package func set(_ flag: Bool) { set(flag ? 1 : 0) }

    /// Adds the amount, which can be negative.
    package func add(_ amount: Double) { bits.addDouble(amount) }

    package var value: Double { Double(bitPattern: bits.load(ordering: .relaxed)) }
}

extension Atomic where Value == UInt64 {
    /// Adds to the double that this bit pattern represents.
    func addDouble(_ amount: Double) {
        var old = load(ordering: .relaxed)
        while true {
            let new = (Double(bitPattern: old) + amount).bitPattern
            let (exchanged, original) = weakCompareExchange(expected: old, desired: new, ordering: .relaxed)
            if exchanged { return }
            old = original
        }
    }
}
