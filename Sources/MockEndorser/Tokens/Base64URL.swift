import Foundation

/// Base64 with the URL alphabet and without padding, as compact tokens use it (RFC 7515 §2).
enum Base64URL {
    /// The bytes, or `nil` where the text is not base64url.
    static func decode(_ text: some StringProtocol) -> [UInt8]? {
        var standard = text.replacingOccurrences(of: "-", with: "+").replacingOccurrences(of: "_", with: "/")
        standard += String(repeating: "=", count: (4 - standard.count % 4) % 4)
        return Data(base64Encoded: standard).map { Array($0) }
    }
}
