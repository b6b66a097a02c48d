/// Reads the fields of a JSON object tolerantly and records an issue with its path for each wrong one.
struct FieldReader {
    private(set) var issues: [ValidationIssue] = []
    let object: JSONValue
    let strict: Bool

    /// Reads an object with `body` and returns its issues. A value that is not an object is one issue.
    static func issues(of value: JSONValue, strict: Bool, _ body: (inout FieldReader) -> Void) -> [ValidationIssue] {
        guard value.isObject else { return [ValidationIssue(path: value.path, problem: .wrongType)] }
        var fields = FieldReader(object: value, strict: strict)
        body(&fields)
        return fields.issues
    }

    private init(object: JSONValue, strict: Bool) {
        self.object = object
        self.strict = strict
    }

    /// A field that is there and not null; `nil` with an issue if it is required and missing.
    mutating func value(_ key: PageKey, required: Bool = false) -> JSONValue? {
        if let value = object[key], !value.isNull { return value }
        if required { record(key, .missing) }
        return nil
    }

    /// The value of a field; `nil` with an issue if a required field is missing or has the wrong type.
    ///
    /// For an optional field a wrong type is an issue only with strict validation or with `typed`.
    ///
    /// - Parameter convert: Returns `nil` for a value of the wrong type.
    @inline(__always)
    mutating func read<Value>(
        _ key: PageKey,
        required: Bool = false,
        typed: Bool = false,
        _ convert: (JSONValue) -> Value?
    ) -> Value? {
        guard let value = value(key, required: required) else { return nil }
        if let converted = convert(value) { return converted }
        if required || typed || strict { record(key, .wrongType) }
        return nil
    }

    /// Checks the type of a field, and its text with `isValid`.
    mutating func checkText(
        _ key: PageKey,
        required: Bool = false,
        _ isValid: (UnsafeBufferPointer<UInt8>) -> Bool = { _ in true }
    ) {
        if read(key, required: required, { $0.withUTF8(isValid) }) == false { record(key, .invalid) }
    }

    /// Records an issue with a field that is there but null. The schema of the contract allows null only where it says
    /// so.
    mutating func rejectNull(_ key: PageKey) { if object[key]?.isNull == true { record(key, .wrongType) } }

    mutating func record(_ key: PageKey, _ problem: ValidationIssue.Fault) {
        issues.append(ValidationIssue(path: object.path + "." + key.name, problem: problem))
    }

    /// Adds the issues of a nested object.
    mutating func adopt(_ nested: [ValidationIssue]) { issues.append(contentsOf: nested) }
}
