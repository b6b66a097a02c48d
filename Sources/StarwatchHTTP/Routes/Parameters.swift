import Starwatch

/// The query parameters of a request. Unknown and repeated names are rejected.
struct Parameters: Sendable {
    private let values: [String: String]

    init(_ call: Call, allowing names: [String]) throws(ControlError) {
        var values: [String: String] = [:]
        for (name, value) in call.query {
            guard names.contains(name), values.updateValue(value, forKey: name) == nil else {
                throw ControlError(.invalid, "Each parameter may stand once: \(names.joined(separator: ", ")).")
            }
        }
        self.values = values
    }

    subscript(_ name: String) -> String? { values[name] }

    /// A whole number; `nil` if the parameter is absent.
    func number(_ name: String) throws(ControlError) -> Int64? {
        guard let text = values[name] else { return nil }
        guard let value = Self.number(text) else { throw ControlError(.invalid, "\(name) must be a whole number.") }
        return value
    }

    /// The number that `text` writes in its usual form, without a plus and leading zeros; `nil` for anything else.
    static func number(_ text: String) -> Int64? {
        Int64(text).flatMap { String($0) == text ? $0 : nil }
    }
}
