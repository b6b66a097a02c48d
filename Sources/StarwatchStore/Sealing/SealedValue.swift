import Crypto
package import FoundationEssentials

/// The stored form of a sealed value: a mark, the id of its data key in three bytes, and then the nonce, the ciphertext
/// and the tag of AES-256-GCM.
///
/// In a text column the part after the mark is base64, and the whole is a JSON string, because some columns must be JSON.
/// Three bytes are four digits of base64, so that SQL can compare the ids of keys.
package struct SealedValue: Sendable, Hashable {
    static let textMark = "\"sw1."
    static let blobMark: [UInt8] = [0x53, 0x57, 0x01]
    /// Id, nonce and tag.
    private static let overhead = 3 + 12 + 16

    let key: Int64
    /// Nonce, ciphertext and tag.
    let box: Data

    init(key: Int64, box: Data) {
        self.key = key
        self.box = box
    }

    /// Parses the form of text columns.
    package init?(text: String) {
        guard text.hasPrefix(Self.textMark), text.utf8.last == UInt8(ascii: "\""), text.utf8.count > 6 else {
            return nil
        }
        guard let bytes = Data(base64Encoded: String(text.dropFirst(5).dropLast())) else { return nil }
        self.init(bytes)
    }

    /// Parses the form of blob columns.
    package init?(blob: Data) {
        guard blob.starts(with: Self.blobMark) else { return nil }
        self.init(Data(blob.dropFirst(3)))
    }

    private init?(_ bytes: Data) {
        guard bytes.count >= Self.overhead else { return nil }
        key = bytes.prefix(3).reduce(0) { $0 << 8 | Int64($1) }
        box = Data(bytes.dropFirst(3))
    }

    package var text: String { Self.textMark + (Self.bytes(of: key) + box).base64EncodedString() + "\"" }
    package var blob: Data { Self.blobMark + Self.bytes(of: key) + box }

    private static func bytes(of key: Int64) -> Data {
        Data([
            UInt8(truncatingIfNeeded: key >> 16), UInt8(truncatingIfNeeded: key >> 8), UInt8(truncatingIfNeeded: key),
        ])
    }

    /// The id of a key as it stands after the mark in text columns.
    static func digits(of key: Int64) -> String { bytes(of: key).base64EncodedString() }

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
