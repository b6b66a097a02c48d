import Crypto
import FoundationEssentials
import StarwatchCore

/// Sealing and opening of values. In a database that is not encrypted, values pass unchanged.
///
/// `row` is the text of ``SealedTable/row``.
extension Session {
    // MARK: - Accounts

    /// The account as it is stored.
    func key(_ account: DID) -> String { vault.form(of: account) }

    /// The account of a stored form.
    func account(_ key: String) throws -> DID {
        guard vault.isSealed else {
            guard let did = DID(key) else { throw StoreError.damaged }
            return did
        }
        guard let did = try dataKeys.account(key) else { throw StoreError.sealed(.damaged) }
        return did
    }

    // MARK: - Values

    /// The form in which a text is stored; `nil` for `nil`.
    ///
    /// - Parameter account: The stored form of the account that it belongs to; `nil` for none.
    func sealed(
        _ text: String?,
        _ column: SealedColumn,
        of account: @autoclosure () throws -> String?,
        row: @autoclosure () -> String
    ) throws -> String? {
        guard vault.isSealed, let text else { return text }
        return try dataKeys.seal(Array(text.utf8), column, of: account(), row: row()).text
    }

    /// The form in which bytes are stored.
    func sealed(
        _ bytes: [UInt8],
        _ column: SealedColumn,
        of account: @autoclosure () throws -> String?,
        row: @autoclosure () -> String
    ) throws -> Data {
        vault.isSealed ? try dataKeys.seal(bytes, column, of: account(), row: row()).blob : bytes.blob
    }

    /// The text of a stored form.
    func opened(_ stored: String, _ column: SealedColumn, row: @autoclosure () throws -> String) throws -> String {
        guard vault.isSealed else { return stored }
        guard let value = SealedValue(text: stored) else {
            if column.wasClear { return stored }
            throw StoreError.sealed(.damaged)
        }
        return String(decoding: try dataKeys.open(value, column, row: row()), as: UTF8.self)
    }

    /// The text of an optional stored form.
    func opened(_ stored: String?, _ column: SealedColumn, row: @autoclosure () throws -> String) throws -> String? {
        guard let stored else { return nil }
        return try opened(stored, column, row: row()) as String
    }

    /// The bytes of a stored form.
    func opened(_ stored: Data, _ column: SealedColumn, row: @autoclosure () throws -> String) throws -> [UInt8] {
        guard vault.isSealed else { return [UInt8](stored) }
        guard let value = SealedValue(blob: stored) else { throw StoreError.sealed(.damaged) }
        return [UInt8](try dataKeys.open(value, column, row: row()))
    }
}
