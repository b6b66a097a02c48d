internal import Crypto

/// A fixed-length identifier of a text.
package enum ContentHash {
    /// The SHA-256 of the text, in hexadecimal.
    package static func text(_ text: String) -> String { Hex.encode(SHA256.hash(data: Array(text.utf8))) }
}
