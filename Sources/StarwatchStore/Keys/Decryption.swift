/// The result of decrypting a database.
package struct Decryption: Sendable, Hashable {
    /// The number of rows with values that were encrypted.
    package var rows = 0
    /// The number of values that did not open and are lost, by `table.column`.
    package var lost: [String: Int] = [:]
}
