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
