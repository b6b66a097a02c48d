/// The stored forms of details and of their changes: JSON objects.
extension PlanDetails {
    private static let keys = JSONKeys(Field.allCases.map(\.rawValue))

    /// The stored form: an object with the text of each field that is not empty.
    package var stored: String {
        var bytes: [UInt8] = []
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
    /// The stored form of changes by field: an object of objects, in the order of the fields' names.
    package static func stored(_ changes: [String: FieldChange]) -> String {
        var bytes = [UInt8(ascii: "{")]
        for (field, change) in changes.sorted(by: { $0.key < $1.key }) {
            if bytes.count > 1 { bytes.append(UInt8(ascii: ",")) }
            JSONQuotes.append(field, to: &bytes)
            bytes.append(UInt8(ascii: ":"))
            JSONQuotes.append([("before", change.before), ("after", change.after)], to: &bytes)
        }
        bytes.append(UInt8(ascii: "}"))
        return String(decoding: bytes, as: UTF8.self)
    }
}
