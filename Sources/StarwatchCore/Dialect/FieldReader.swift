import FoundationEssentials

/// Reads the fields of one JSON object tolerantly and notes what was wrong with each, with its path.
struct FieldReader<Key: CodingKey> {
    private(set) var issues: [ValidationIssue] = []
    let container: KeyedDecodingContainer<Key>
    let strict: Bool

    /// `nil` when the value is no object; ``FieldReading/notAnObject(_:)`` is then the issue to report.
    init?(_ decoder: any Decoder, keys: Key.Type) {
        guard let container = try? decoder.container(keyedBy: keys) else { return nil }
        self.container = container
        self.strict = decoder.userInfo[FieldReading.strictKey] as? Bool ?? false
    }

    /// The value of a field; `nil` and an issue when it is required and absent, or of another type.
    ///
    /// A wrong type in a field that is not required is an issue only when checking strictly, or when `typed`.
    mutating func read<T: Decodable>(
        _ key: Key,
        _: T.Type = T.self,
        required: Bool = false,
        typed: Bool = false
    ) -> T? {
        do {
            if let value = try container.decodeIfPresent(T.self, forKey: key) { return value }
            if required { record(key, .missing) }
        } catch {
            if required || typed || strict { record(key, .wrongType) }
        }
        return nil
    }

    /// Notes `problem` at a field.
    mutating func record(_ key: Key, _ problem: ValidationIssue.Problem) {
        issues.append(ValidationIssue(path: FieldReading.path(container.codingPath + [key]), problem: problem))
    }

    /// Takes over what a nested object found.
    mutating func adopt(_ nested: [ValidationIssue]) {
        issues.append(contentsOf: nested)
    }
}

package enum FieldReading {
    static let strictKey = CodingUserInfoKey(rawValue: "starwatch.strict")!

    package static func path(_ keys: [any CodingKey]) -> String {
        var text = "$"
        for key in keys {
            if let index = key.intValue { text += "[\(index)]" } else { text += "." + key.stringValue }
        }
        return text
    }

    static func notAnObject(_ decoder: any Decoder) -> [ValidationIssue] {
        [ValidationIssue(path: path(decoder.codingPath), problem: .wrongType)]
    }
}
