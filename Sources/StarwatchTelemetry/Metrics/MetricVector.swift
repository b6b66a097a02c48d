/// The handles of a family with one label, in a flat array. A lookup is index arithmetic.
///
/// It keeps no more of its label than a lookup needs, because a use of a vector can copy it.
package struct MetricVector1<A: Sendable, Handle: Sendable>: Sendable {
    @usableFromInline let index: @Sendable (A) -> Int
    @usableFromInline let handles: [Handle]

    init(_ a: LabelDimension<A>, _ handles: [Handle]) {
        (index, self.handles) = (a.indexOf, handles)
    }

    /// The handle for a label value. It never changes, so frequent users can keep it.
    // Without inlining, each lookup fetches generic metadata at run time, which costs more than the increment.
    @inlinable package subscript(_ a: A) -> Handle { handles[index(a)] }
}

/// The handles of a family with two labels.
package struct MetricVector2<A: Sendable, B: Sendable, Handle: Sendable>: Sendable {
    @usableFromInline let index: @Sendable (A) -> Int
    @usableFromInline let secondIndex: @Sendable (B) -> Int
    /// The number of values of the second label.
    @usableFromInline let width: Int
    @usableFromInline let handles: [Handle]

    init(_ a: LabelDimension<A>, _ b: LabelDimension<B>, _ handles: [Handle]) {
        (index, secondIndex, width, self.handles) = (a.indexOf, b.indexOf, b.values.count, handles)
    }

    /// The handle for a pair of label values. It never changes, so frequent users can keep it.
    @inlinable package subscript(_ a: A, _ b: B) -> Handle { handles[index(a) * width + secondIndex(b)] }

    /// The handles of all values of the second label, for a view that sums them.
    package func all(_ a: A) -> [Handle] {
        let start = index(a) * width
        return Array(handles[start..<start + width])
    }
}
