import FoundationEssentials

/// Base 64 in both alphabets (RFC 4648). Only the canonical text of some bytes decodes.
package enum Base64 {
    /// Encodes with the URL-safe alphabet without padding, for JWTs.
    static func encodeURL(_ bytes: some Sequence<UInt8>) -> String {
        encode(bytes).replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }

    /// Encodes with the standard alphabet and padding.
    package static func encode(_ bytes: some Sequence<UInt8>) -> String { Data(bytes).base64EncodedString() }

    /// Decodes the URL-safe alphabet; `nil` for padding, other characters or non-zero trailing bits.
    static func decodeURL(_ text: some StringProtocol) -> [UInt8]? {
        let bytes = decode(String(text).replacing("-", with: "+").replacing("_", with: "/"))
        return bytes.flatMap { encodeURL($0) == text ? $0 : nil }
    }

    /// Decodes the standard alphabet with or without padding; `nil` for other characters or non-zero trailing bits.
    package static func decode(_ text: some StringProtocol) -> [UInt8]? {
        let missing = (4 - text.utf8.count % 4) % 4
        guard missing == 0 || !text.contains("=") else { return nil }
        let padded = text + String(repeating: "=", count: missing)
        guard let data = Data(base64Encoded: padded), data.base64EncodedString() == padded else { return nil }
        return Array(data)
    }
}
