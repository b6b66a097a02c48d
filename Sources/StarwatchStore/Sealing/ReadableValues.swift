import StarwatchCore

/// The value, or `nil` if a stored value that it needs is damaged.
///
/// Damage of one value, such as a flipped bit in a ciphertext, then affects only what holds it. Damage of the file is
/// another error and is thrown.
func ifReadable<Value>(_ read: () throws -> Value) throws -> Value? {
    do {
        return try read()
    } catch let error as StoreError where error.isOfOneValue {
        return nil
    }
}

extension StoreError {
    /// Whether one stored value is damaged, and the database works.
    var isOfOneValue: Bool { self == .sealed(.damaged) || self == StoreError.damaged }
}

/// The text in place of a value that does not open.
enum Unreadable {
    static let text = "(unreadable)"
    /// The account of rows whose identity does not open. It is nobody's.
    static let account = DID(account("account"))!

    /// The identity in place of one that does not open, in a decrypted database.
    ///
    /// - Parameter form: The stored form of the account.
    static func account(_ form: String) -> String { "did:unreadable:" + form }
}
