/// The details of a plan, beside its name and handle, as text.
///
/// Persons are omitted, because a server can hide a DID from one requester and show it to the next. Such a difference
/// is no change.
public struct PlanDetails: Sendable, Hashable {
    /// The compared fields.
    public enum Field: String, Sendable, CaseIterable {
        case name, description, location, url, image
        case startTime = "start_time"
        case endTime = "end_time"
    }

    /// The longest stored text, in bytes; the rest is not compared.
    public static let longestText = 4000

    /// The texts by ``index(of:)``; empty if there is none. An array, because every item of a page makes one.
    private var texts: [String?] = []

    public init(_ fields: [Field: String] = [:]) { for (field, text) in fields { self[field] = text } }

    /// The text of a field. Setting an empty text removes it, and a long text is truncated.
    public subscript(_ field: Field) -> String? {
        get { self[stored: field] }
        set { self[stored: field] = newValue.flatMap { $0.isEmpty ? nil : Self.shortened($0) } }
    }

    /// The text as it is stored, without the limit of its length.
    subscript(stored field: Field) -> String? {
        get { texts.isEmpty ? nil : texts[Self.index(of: field)] }
        set {
            if texts.isEmpty {
                guard newValue != nil else { return }
                texts = Array(repeating: nil, count: Field.allCases.count)
            }
            texts[Self.index(of: field)] = newValue
            if newValue == nil, texts.allSatisfy({ $0 == nil }) { texts = [] }
        }
    }

    private static func index(of field: Field) -> Int {
        switch field {
        case .name: 0
        case .description: 1
        case .location: 2
        case .url: 3
        case .image: 4
        case .startTime: 5
        case .endTime: 6
        }
    }

    /// The fields that differ, with their old and new values.
    public func changes(from before: PlanDetails) -> [String: FieldChange] {
        var changes: [String: FieldChange] = [:]
        for field in Field.allCases where before[field] != self[field] {
            changes[field.rawValue] = FieldChange(before: before[field], after: self[field])
        }
        return changes
    }

    static func shortened(_ text: String) -> String {
        guard text.utf8.count > longestText else { return text }
        var short = text.prefix(longestText)
        while short.utf8.count > longestText { short.removeLast() }
        return short + "…"
    }
}

extension PlanDetails {
    /// The fields that differ from an earlier claim of the plan; `nil` if the claim shows no difference.
    ///
    /// Only the claim's own fields are compared, because a claim can leave out what the server keeps. A server writes
    /// times in its own way, so they are compared as times, and those of an unknown form are left out.
    func changes(sinceClaim claim: PlanDetails) -> [String: FieldChange]? {
        var found: [String: FieldChange] = [:]
        for field in Field.allCases {
            guard let before = claim[field], before != self[field] else { continue }
            if field == .startTime || field == .endTime {
                guard let time = Timestamp(iso8601: before) else { continue }
                if self[field].flatMap({ Timestamp(iso8601: $0) }) == time { continue }
            }
            found[field.rawValue] = FieldChange(before: before, after: self[field])
        }
        return found.isEmpty ? nil : found
    }
}

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
