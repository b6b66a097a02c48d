/// What became of one field of a plan.
public struct FieldChange: Sendable, Hashable, Codable {
    /// `nil` when there was nothing.
    public let before: String?
    /// `nil` when there is nothing any more.
    public let after: String?

    public init(before: String?, after: String?) {
        self.before = before
        self.after = after
    }
}
