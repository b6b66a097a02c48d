/// The handles of a family with one label, in a flat array. A lookup is index arithmetic.
package struct MetricVector1<A: Sendable, Handle: Sendable>: Sendable {
    @usableFromInline let a: LabelDimension<A>
    @usableFromInline let handles: [Handle]

    /// The handle for a label value. It never changes, so frequent users can keep it.
    // Without inlining, each lookup fetches generic metadata at run time, which costs more than the increment.
    @inlinable package subscript(_ a: A) -> Handle { handles[self.a.index(of: a)] }

    /// Every handle of the family.
    package var all: [Handle] { handles }
}

/// The handles of a family with two labels.
package struct MetricVector2<A: Sendable, B: Sendable, Handle: Sendable>: Sendable {
    @usableFromInline let a: LabelDimension<A>
    @usableFromInline let b: LabelDimension<B>
    @usableFromInline let handles: [Handle]

    /// The handle for a pair of label values. It never changes, so frequent users can keep it.
    @inlinable package subscript(_ a: A, _ b: B) -> Handle {
        handles[self.a.index(of: a) * self.b.values.count + self.b.index(of: b)]
    }

    /// Every handle of the family.
    package var all: [Handle] { handles }

    /// The handles of all values of the second label, for a view that sums them.
    package func all(_ a: A) -> [Handle] {
        let start = self.a.index(of: a) * b.values.count
        return Array(handles[start..<start + b.values.count])
    }
}
