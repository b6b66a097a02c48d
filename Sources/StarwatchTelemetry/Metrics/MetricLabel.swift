/// An enumeration whose raw values are the values of a metric label. Conformance is one line:
/// `extension E: MetricLabel {}`.
///
/// Label values come only from such an enumeration or from ``ConfiguredNames``. The number of series is thus a function
/// of the configuration.
package protocol MetricLabel: CaseIterable, RawRepresentable, Sendable, Hashable where RawValue == String {}

/// A closed list of names from the configuration, such as poll or sink names, created once at start.
package struct ConfiguredNames: Sendable, Hashable {
    /// Limit of configured names, not counting the fixed ones.
    package static let limit = 16

    package static let none = ConfiguredNames(all: [])

    /// All names: the fixed ones first, then the configured ones.
    package let all: [ConfiguredName]

    private init(all: [ConfiguredName]) { self.all = all }

    /// Validates the names.
    ///
    /// - Parameters:
    ///   - names: At most ``limit`` different names, each `[a-z][a-z0-9_]{0,62}`.
    ///   - fixed: Names that exist in every configuration, such as `server` among circuit targets.
    /// - Throws: ``TelemetryError`` with the position of the first invalid name.
    package init(_ names: [String], after fixed: [StaticString] = []) throws(TelemetryError) {
        guard names.count <= Self.limit else { throw .tooManyNames(count: names.count) }
        var texts = fixed.map { "\($0)" }
        for (position, name) in names.enumerated() {
            guard Self.isValid(name) else { throw .invalidName(position: position) }
            guard !texts.contains(name) else { throw .duplicateName(position: position) }
            texts.append(name)
        }
        all = texts.enumerated().map { ConfiguredName(text: $1, index: $0) }
    }

    /// The name with that text; `nil` if it is not configured.
    package subscript(_ text: String) -> ConfiguredName? {
        all.first { $0.text == text }
    }

    /// Whether a text matches `[a-z][a-z0-9_]{0,62}`.
    package static func isValid(_ text: String) -> Bool {
        let bytes = text.utf8
        guard let first = bytes.first, bytes.count <= 63 else { return false }
        return first.isLowercaseLetter && bytes.allSatisfy { $0.isLowercaseLetter || $0.isDigit || $0 == 0x5F }
    }
}

/// One name of a ``ConfiguredNames``. Only such a list creates it.
package struct ConfiguredName: Sendable, Hashable, CustomStringConvertible {
    package let text: String
    package let index: Int

    package var description: String { text }
}

/// A label with all its values, by which a family of series is split.
package struct LabelDimension<Value: Sendable>: Sendable {
    package let name: String
    package let values: [String]
    /// The values in the order of ``values``.
    let cases: [Value]
    /// For each value, whether its series are on the page.
    let shown: [Bool]
    /// Returns the index of a value in ``values``. Traps for a name of another list.
    let indexOf: @Sendable (Value) -> Int

    /// A label whose values are the raw values of an enumeration.
    ///
    /// - Parameter shown: The values whose series are on the page from the start; `nil`: all. The series of another
    ///   value appear when one of them has counted.
    package init(
        _ name: StaticString,
        of type: Value.Type = Value.self,
        shown: Set<Value>? = nil
    ) where Value: MetricLabel {
        let cases = Array(Value.allCases)
        precondition(cases.count <= 64, "The label \(name) has more than 64 values.")
        self.name = "\(name)"
        self.cases = cases
        values = cases.map(\.rawValue)
        self.shown = cases.map { shown?.contains($0) ?? true }
        if MemoryLayout<Value>.size == 1 {
            // The single byte of an enum without payload identifies the case. A table lookup avoids hashing its text.
            var table = [UInt8](repeating: 0, count: 256)
            for (index, value) in cases.enumerated() {
                table[withUnsafeBytes(of: value) { Int($0[0]) }] = UInt8(index)
            }
            indexOf = { [table] value in Int(table[withUnsafeBytes(of: value) { Int($0[0]) }]) }
        } else {
            indexOf = { [cases] value in cases.firstIndex(of: value)! }
        }
    }

    /// A label whose values are configured names.
    ///
    /// - Parameter isShown: Whether its series are on the page from the start. Otherwise each appears when it has counted.
    package init(_ name: StaticString, of names: ConfiguredNames, isShown: Bool = true) where Value == ConfiguredName {
        self.name = "\(name)"
        cases = names.all
        values = cases.map(\.text)
        shown = names.all.map { _ in isShown }
        indexOf = { [all = names.all, name] value in
            precondition(
                value.index < all.count && all[value.index] == value,
                "\(value) is not a value of the label \(name)."
            )
            return value.index
        }
    }

    var axis: LabelAxis {
        let all = zip(values, shown).map { (text: $0, isShown: $1) }
        return (CatalogueLabel(name: name, values: all.filter(\.isShown).map(\.text)), all)
    }
}

/// A ``LabelDimension`` without the type of its values: the label as the catalogue shows it, and all values.
typealias LabelAxis = (label: CatalogueLabel, values: [(text: String, isShown: Bool)])

extension UInt8 {
    var isLowercaseLetter: Bool { self >= 0x61 && self <= 0x7A }
    var isUppercaseLetter: Bool { self >= 0x41 && self <= 0x5A }
    var isDigit: Bool { self >= 0x30 && self <= 0x39 }
    var isLetter: Bool { isLowercaseLetter || isUppercaseLetter }
}

/// A label of a family with its possible values.
package struct CatalogueLabel: Sendable, Hashable, Encodable {
    package let name: String
    package let values: [String]

    package init(name: String, values: [String]) { (self.name, self.values) = (name, values) }
}

/// An error in the configured names that metrics use as label values.
///
/// Names of metrics and labels are literals in the code. An invalid one traps at start.
package enum TelemetryError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The number of configured names exceeds ``ConfiguredNames/limit``.
    case tooManyNames(count: Int)
    /// A configured name does not match `[a-z][a-z0-9_]{0,62}`. The position counts from 0.
    case invalidName(position: Int)
    /// A configured name is a duplicate or one of the fixed names. The position counts from 0.
    case duplicateName(position: Int)

    package var description: String {
        switch self {
        case .tooManyNames(let count):
            "\(count) names are configured; the limit is \(ConfiguredNames.limit). Remove some."
        case .invalidName(let position):
            "Name \(position + 1) is invalid. Use a letter a-z, then at most 62 characters of a-z, 0-9 and _."
        case .duplicateName(let position):
            "Name \(position + 1) is already in use. Choose another."
        }
    }
}

/// The handles of a family with one label, in a flat array. A lookup is index arithmetic.
///
/// It keeps no more of its label than a lookup needs, because a use of a vector can copy it.
package struct MetricVector1<A: Sendable, Handle: Sendable>: Sendable {
    @usableFromInline let index: @Sendable (A) -> Int
    @usableFromInline let handles: [Handle]

    init(_ a: LabelDimension<A>, _ handles: [Handle]) { (index, self.handles) = (a.indexOf, handles) }

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
