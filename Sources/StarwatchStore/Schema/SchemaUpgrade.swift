/// An upgrade of the database that opening it made.
package struct SchemaUpgrade: Sendable, Hashable {
    /// The schema version before.
    package let from: Int
    /// The schema version since.
    package let to: Int
    /// The file name of the copy from before, beside the database; `nil` if none is kept.
    package var copy: String?
}
