/// An enumeration whose cases are the values of a metric label. Conformance is one line: `extension E: MetricLabel {}`.
///
/// The raw values are what is exposed. There is no other way to give a label a value than this and ``ConfiguredNames``,
/// so that the number of series is a function of the configuration (R-TEL-14).
package protocol MetricLabel: CaseIterable, RawRepresentable, Sendable, Hashable where RawValue == String {}

/// A closed list of names from the configuration, such as those of polls or sinks, made once at start.
package struct ConfiguredNames: Sendable, Hashable {
    /// How many configured names a list may hold, the fixed ones not counted.
    package static let limit = 16

    /// The names in order: first the fixed ones, then the configured ones.
    package let all: [ConfiguredName]

    /// Checks the names and fixes their order.
    ///
    /// - Parameters:
    ///   - names: At most ``limit`` different names, each `[a-z][a-z0-9_]{0,62}`.
    ///   - fixed: Names that exist in every configuration and stand first, such as `server` among circuit targets.
    /// - Throws: ``TelemetryError`` with the position of the first name that does not fit.
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

    /// The name with that text, or `nil` if it was not configured.
    package subscript(_ text: String) -> ConfiguredName? {
        all.first { $0.text == text }
    }

    /// Whether a text is `[a-z][a-z0-9_]{0,62}`.
    package static func isValid(_ text: String) -> Bool {
        let bytes = text.utf8
        guard let first = bytes.first, bytes.count <= 63 else { return false }
        return first.isLowercaseLetter && bytes.allSatisfy { $0.isLowercaseLetter || $0.isDigit || $0 == 0x5F }
    }
}

/// One of the names of a ``ConfiguredNames``. Only such a list makes them.
package struct ConfiguredName: Sendable, Hashable, CustomStringConvertible {
    package let text: String
    let index: Int

    package var description: String { text }
}

/// A label with all its values: the only thing a family of series can be split by.
package struct LabelDimension<Value: Sendable>: Sendable {
    package let name: String
    package let values: [String]
    @usableFromInline let indexOf: @Sendable (Value) -> Int

    /// A label whose values are the raw values of an enumeration.
    package init(_ name: StaticString, of type: Value.Type = Value.self) where Value: MetricLabel {
        let cases = Array(Value.allCases)
        precondition(cases.count <= 64, "Label \(name) has more than 64 values.")
        self.name = "\(name)"
        values = cases.map(\.rawValue)
        if MemoryLayout<Value>.size == 1 {
            // The one byte of a payload-less enum identifies the case: a table lookup instead of hashing its text.
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
    package init(_ name: StaticString, of names: ConfiguredNames) where Value == ConfiguredName {
        self.name = "\(name)"
        values = names.all.map(\.text)
        indexOf = { [all = names.all] value in
            precondition(
                value.index < all.count && all[value.index] == value,
                "\(value) is not a name of this label's list."
            )
            return value.index
        }
    }

    /// Where a value stands in ``values``. Traps for a name of another list.
    @inlinable func index(of value: Value) -> Int { indexOf(value) }

    var erased: CatalogueLabel { CatalogueLabel(name: name, values: values) }
}

extension UInt8 {
    var isLowercaseLetter: Bool { self >= 0x61 && self <= 0x7A }
    var isUppercaseLetter: Bool { self >= 0x41 && self <= 0x5A }
    var isDigit: Bool { self >= 0x30 && self <= 0x39 }
    var isLetter: Bool { isLowercaseLetter || isUppercaseLetter }
}
