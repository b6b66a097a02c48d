import Foundation
import Glibc

extension Data {
    /// Whether the bytes have this text in UTF-8; `text` is not empty.
    ///
    /// Foundation's `range(of:)` is generic: `EncryptionCrashTests` took two minutes longer with it.
    func contains(_ text: String) -> Bool {
        let text = Array(text.utf8)
        return withUnsafeBytes { bytes in
            var rest = bytes[...]
            while rest.count >= text.count,
                let found = memchr(rest.baseAddress, CInt(text[0]), rest.count - text.count + 1)
            {
                if memcmp(found, text, text.count) == 0 { return true }
                rest = rest[(UnsafeRawPointer(found) - UnsafeRawPointer(bytes.baseAddress!) + 1)...]
            }
            return false
        }
    }
}

extension Slice<UnsafeRawBufferPointer> {
    fileprivate var baseAddress: UnsafeRawPointer { base.baseAddress! + startIndex }
}
