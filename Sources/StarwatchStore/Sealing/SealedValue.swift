import Crypto
package import FoundationEssentials
import StarwatchCore

/// The stored form of a sealed value: a mark, the id of its data key, and then the nonce, the ciphertext and the tag of
/// AES-256-GCM.
///
/// In a text column the part after the mark is base64, and the whole is a JSON string, because some columns must be JSON.
package struct SealedValue: Sendable, Hashable {
    /// The forms by their marks. All are readable, and the last one is written.
    private enum Form: UInt8, CaseIterable {
        /// Until version 9 of the schema, with ids of three bytes.
        case short = 1
        /// With ids of eight bytes, because each of many accounts has keys of its own.
        case long

        var idLength: Int { self == .short ? 3 : 8 }
        var textMark: String { "\"sw\(rawValue)." }
        var blobMark: [UInt8] { [0x53, 0x57, rawValue] }
    }

    /// Nonce and tag.
    private static let overhead = 12 + 16

    let key: Int64
    /// Nonce, ciphertext and tag.
    let box: Data

    init(key: Int64, box: Data) {
        self.key = key
        self.box = box
    }

    /// Parses the form of text columns.
    package init?(text: String) {
        guard text.utf8.last == UInt8(ascii: "\""), text.utf8.count > 6,
            let form = Form.allCases.first(where: { text.hasPrefix($0.textMark) }),
            let bytes = Data(base64Encoded: String(Substring(text.utf8.dropFirst(form.textMark.utf8.count).dropLast())))
        else { return nil }
        self.init(bytes, form)
    }

    /// Parses the form of blob columns.
    package init?(blob: Data) {
        guard let form = Form.allCases.first(where: { blob.starts(with: $0.blobMark) }) else { return nil }
        self.init(Data(blob.dropFirst(3)), form)
    }

    private init?(_ bytes: Data, _ form: Form) {
        guard bytes.count >= form.idLength + Self.overhead else { return nil }
        key = bytes.prefix(form.idLength).reduce(0) { $0 << 8 | Int64($1) }
        box = Data(bytes.dropFirst(form.idLength))
    }

    package var text: String { Form.long.textMark + body.base64EncodedString() + "\"" }
    package var blob: Data { Form.long.blobMark + body }

    private var body: Data {
        (0..<8).reversed().reduce(into: Data()) { $0.append(UInt8(truncatingIfNeeded: key >> ($1 * 8))) } + box
    }

    /// The data that a value is bound to, so that it does not open elsewhere.
    private static func context(_ column: SealedColumn, _ row: String, _ key: Int64) -> [UInt8] {
        Array("\(column.rawValue)\u{1F}\(row)\u{1F}\(key)".utf8)
    }

    /// Seals bytes for one place.
    static func seal(
        _ bytes: some DataProtocol,
        with key: SymmetricKey,
        id: Int64,
        _ column: SealedColumn,
        row: String
    ) throws -> SealedValue {
        let box = try AES.GCM.seal(bytes, using: key, authenticating: context(column, row, id))
        guard let combined = box.combined else { throw StoreError.sealed(.damaged) }
        return SealedValue(key: id, box: combined)
    }

    /// The bytes, if they were sealed with this key for this place.
    ///
    /// - Throws: ``StoreError/sealed(_:)``.
    func open(with key: SymmetricKey, _ column: SealedColumn, row: String) throws -> Data {
        do {
            let box = try AES.GCM.SealedBox(combined: box)
            return try AES.GCM.open(box, using: key, authenticating: Self.context(column, row, self.key))
        } catch {
            throw StoreError.sealed(.damaged)
        }
    }
}

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

    /// Whether ``text`` takes the place of one of `values`.
    static func isAmong(_ values: [String?]) -> Bool { values.contains(text) }

    /// The account of rows whose identity does not open. It is nobody's.
    static let account = DID(account("account"))!

    /// The identity in place of one that does not open, in a decrypted database.
    ///
    /// - Parameter form: The stored form of the account.
    static func account(_ form: String) -> String { "did:unreadable:" + form }
}
