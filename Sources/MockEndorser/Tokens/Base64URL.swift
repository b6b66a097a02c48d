import Foundation

/// Base64 with the URL-safe alphabet and without padding (RFC 7515 §2).
enum Base64URL {
    /// Decodes a text; `nil` if it is not base64url.
    static func decode(_ text: some StringProtocol) -> [UInt8]? {
        var standard = text.replacingOccurrences(of: "-", with: "+").replacingOccurrences(of: "_", with: "/")
        standard += String(repeating: "=", count: (4 - standard.count % 4) % 4)
        return Data(base64Encoded: standard).map { Array($0) }
    }
}
