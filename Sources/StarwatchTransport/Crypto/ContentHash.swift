internal import Crypto

/// A name for text of any length.
package enum ContentHash {
    /// The SHA-256 of the text, in hexadecimal.
    package static func text(_ text: String) -> String { Hex.encode(SHA256.hash(data: Array(text.utf8))) }
}
