/// The owner of the database's schema (R-STO-13).
package enum StoreOwner: String, Sendable, CaseIterable, Codable {
    /// The agent creates and migrates the database.
    case agent
    /// A host application creates and migrates the database. The agent only checks the version.
    case host
}
