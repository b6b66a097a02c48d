/// The stored forms of details and of their changes: JSON objects.
extension PlanDetails {
    private static let keys = JSONKeys(Field.allCases.map(\.rawValue))

    /// The stored form: an object with the text of each field that is not empty.
    package var stored: String {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(256)
        JSONQuotes.append(Field.allCases.map { ($0.rawValue, self[$0]) }, to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Reads ``stored``; `nil` if the text is of another form.
    package init?(stored: String) {
        let details = JSONValue.read(Array(stored.utf8), keys: Self.keys) { object -> PlanDetails? in
            guard object.isObject else { return nil }
            var details = PlanDetails()
            for (number, field) in Field.allCases.enumerated() {
                guard let value = object[UInt8(number)], !value.isNull else { continue }
                guard let text = value.text else { return nil }
                details[stored: field] = text
            }
            return details
        }
        guard let details, let details else { return nil }
        self = details
    }
}

extension FieldChange {
    /// The stored form of changes by field: an object of objects, in the order of the names.
    package static func stored(_ changes: [String: FieldChange]) -> String {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(256)
        JSONQuotes.append(object: changes.sorted { $0.key < $1.key }, to: &bytes) { field, bytes in
            JSONQuotes.appendName(field.key, to: &bytes)
            JSONQuotes.append([("after", field.value.after), ("before", field.value.before)], to: &bytes)
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The fields that a change can have.
    private static let names = PlanDetails.Field.allCases.map(\.rawValue) + ClaimField.allCases.map(\.rawValue)
    private static let keys = JSONKeys(names + ["before", "after"])

    /// Reads ``stored(_:)``; `nil` if the text is of another form. Fields that this version does not know are left out.
    ///
    /// Foundation's decoder takes 59,000 instructions instead of 10,000 for a change of a backlog (`Benchmarks/poll backlog`).
    package static func changes(stored text: String) -> [String: FieldChange]? {
        let read = JSONValue.read(Array(text.utf8), keys: keys) { object -> [String: FieldChange]? in
            guard object.isObject else { return nil }
            var changes: [String: FieldChange] = [:]
            for value in object.elements where Int(value.key) < names.count {
                guard let change = FieldChange(value) else { return nil }
                changes[names[Int(value.key)]] = change
            }
            return changes
        }
        return read ?? nil
    }

    private init?(_ value: JSONValue) {
        guard value.isObject, let before = Self.text(value[UInt8(Self.names.count)]),
            let after = Self.text(value[UInt8(Self.names.count + 1)])
        else { return nil }
        self.init(before: before, after: after)
    }

    /// The text of a member, which can be missing or null; `nil` if it is of another type.
    private static func text(_ value: JSONValue?) -> String?? {
        guard let value, !value.isNull else { return .some(nil) }
        return value.text.map { .some($0) }
    }
}
