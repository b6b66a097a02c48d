/// The old and new value of one field of a plan.
public struct FieldChange: Sendable, Hashable, Codable {
    /// `nil` if the field was empty.
    public let before: String?
    /// `nil` if the field is now empty.
    public let after: String?

    public init(before: String?, after: String?) {
        self.before = before
        self.after = after
    }
}

/// The changes of a plan's fields, in their stored form, which is also that of a notification.
///
/// Most are written as they were stored. To read and write each takes 13,000 instructions for a change of a backlog
/// (`Benchmarks/poll backlog`).
public struct FieldChanges: Sendable, Hashable, Codable {
    /// A JSON object of ``FieldChange/stored(_:)``.
    package let stored: String

    package init(stored: String) { self.stored = stored }

    public init(_ changes: [String: FieldChange]) { stored = FieldChange.stored(changes) }

    /// The changes by field; none if the text is of another form.
    public var byField: [String: FieldChange] { FieldChange.changes(stored: stored) ?? [:] }

    public init(from decoder: any Decoder) throws { self.init(try [String: FieldChange](from: decoder)) }

    public func encode(to encoder: any Encoder) throws { try byField.encode(to: encoder) }
}

/// The fields of a former claim that are no details of a plan.
///
/// A server sends them only with the former claim, so nothing but that claim tells their change. Their value after the change
/// is unknown unless the plan has a member of the same name.
public enum ClaimField: String, Sendable, CaseIterable { case status, progress }

extension FieldChange {
    /// The differences of a change: those from the last seen details of the plan, with what only the former claim tells.
    ///
    /// - Parameters:
    ///   - seen: The differences from the last seen details; `nil` if there are none to compare with.
    ///   - claimed: The differences from the former claim that the server sent along.
    package static func merged(
        seen: [String: FieldChange]?,
        claimed: [String: FieldChange]?
    ) -> [String: FieldChange]? {
        guard let seen, let claimed else { return seen ?? claimed }
        var merged = seen
        for field in ClaimField.allCases.map(\.rawValue) where merged[field] == nil { merged[field] = claimed[field] }
        return merged
    }
}
