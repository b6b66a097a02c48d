import GRDB

extension Schema {
    /// The changes of version 3, one constant for each area.
    static let version3 = quarantine + version3Stories
}
