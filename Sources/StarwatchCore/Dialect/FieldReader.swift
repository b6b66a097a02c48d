import FoundationEssentials

/// Reads the fields of a JSON object tolerantly and records an issue with its path for each wrong one.
struct FieldReader<Key: CodingKey> {
    private(set) var issues: [ValidationIssue] = []
    let container: KeyedDecodingContainer<Key>
    let strict: Bool

    private init(_ container: KeyedDecodingContainer<Key>, _ decoder: any Decoder) {
        self.container = container
        self.strict = decoder.userInfo[FieldReading.strictKey] as? Bool ?? false
    }

    /// Reads an object with `body` and returns its issues. A value that is not an object is one issue.
    static func issues(
        of decoder: any Decoder,
        _: Key.Type = Key.self,
        _ body: (inout FieldReader) -> Void
    ) -> [ValidationIssue] {
        guard let container = try? decoder.container(keyedBy: Key.self) else {
            return [ValidationIssue(path: FieldReading.path(decoder.codingPath), problem: .wrongType)]
        }
        var fields = FieldReader(container, decoder)
        body(&fields)
        return fields.issues
    }

    /// The value of a field; `nil` with an issue if a required field is missing or has the wrong type.
    ///
    /// For an optional field a wrong type is an issue only with strict validation or with `typed`.
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

    /// Records an issue with a field that is there but null. The schema of the contract allows null only where it says
    /// so.
    mutating func rejectNull(_ key: Key) {
        guard container.contains(key), (try? container.decodeNil(forKey: key)) == true else { return }
        record(key, .wrongType)
    }

    /// Records an issue with a field.
    mutating func record(_ key: Key, _ problem: ValidationIssue.Problem) {
        issues.append(ValidationIssue(path: FieldReading.path(container.codingPath + [key]), problem: problem))
    }

    /// Adds the issues of a nested object.
    mutating func adopt(_ nested: [ValidationIssue]) {
        issues.append(contentsOf: nested)
    }
}

package enum FieldReading {
    static let strictKey = CodingUserInfoKey(rawValue: "starwatch.strict")!
    /// Whether the items must be canonical changes of plans.
    static let summaryKey = CodingUserInfoKey(rawValue: "starwatch.summary")!

    package static func path(_ keys: [any CodingKey]) -> String {
        var text = "$"
        for key in keys {
            if let index = key.intValue { text += "[\(index)]" } else { text += "." + key.stringValue }
        }
        return text
    }
}
