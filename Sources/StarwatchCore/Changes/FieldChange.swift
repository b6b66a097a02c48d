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
