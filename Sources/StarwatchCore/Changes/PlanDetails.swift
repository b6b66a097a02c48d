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

    public init(_ fields: [Field: String] = [:]) {
        for (field, text) in fields { self[field] = text }
    }

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
