import Crypto
import FoundationEssentials
import Glibc

/// The key that wraps a database's data keys. It is never stored in the database.
package struct MasterKey: Sendable, CustomStringConvertible, CustomReflectable {
    private let key: SymmetricKey
    /// The first 16 hexadecimal digits of a hash of the key. It names the key and does not reveal it.
    package let id: String

    private init(_ key: SymmetricKey) {
        self.key = key.locked
        let code = HMAC<SHA256>.authenticationCode(for: Array("starwatch master key id".utf8), using: key)
        id = code.prefix(8).map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
    }

    /// Creates a random key.
    package init() { self.init(SymmetricKey(size: .bits256)) }

    /// Reads the content of a key file, or the output of a key command: 32 bytes in base64, on one line.
    ///
    /// - Returns: `nil` for any other content.
    package init?(text: some Sequence<UInt8>) {
        var bytes = Array(text)
        while let last = bytes.last, last == UInt8(ascii: "\n") || last == UInt8(ascii: "\r") { bytes.removeLast() }
        guard bytes.count == 44, let key = Data(base64Encoded: Data(bytes)), key.count == 32 else { return nil }
        // The only base64 text of these bytes, so that a damaged last digit is noticed.
        guard key.base64EncodedData().elementsEqual(bytes) else { return nil }
        self.init(SymmetricKey(data: key))
    }

    /// The content of a key file, with its end of line.
    package var text: String { key.withUnsafeBytes { Data($0) }.base64EncodedString() + "\n" }

    func wrap(_ key: SymmetricKey, _ context: String) throws -> Data {
        let bytes = key.withUnsafeBytes { Data($0) }
        guard
            let sealed = try AES.GCM.seal(bytes, using: self.key, authenticating: Array(context.utf8)).combined
        else { throw StoreError.sealed(.damaged) }
        return sealed
    }

    /// - Throws: ``StoreError/sealed(_:)`` if the key was wrapped with another master key or is damaged.
    func unwrap(_ wrapped: Data, _ context: String) throws -> SymmetricKey {
        do {
            let box = try AES.GCM.SealedBox(combined: wrapped)
            return SymmetricKey(data: try AES.GCM.open(box, using: key, authenticating: Array(context.utf8))).locked
        } catch {
            throw StoreError.sealed(.damaged)
        }
    }

    package var description: String { "<master key \(id)>" }
    package var customMirror: Mirror { Mirror(self, children: []) }
}

extension SymmetricKey {
    /// The key, whose memory the kernel does not swap to the disk. A limit on locked memory can prevent it, without an error;
    /// the unit has no swap at all.
    var locked: SymmetricKey {
        withUnsafeBytes { _ = mlock($0.baseAddress!, $0.count) }
        return self
    }
}
