/// A user and a password at a proxy. Its description shows neither.
package struct ProxyLogin: Sendable, CustomStringConvertible, CustomReflectable {
    let user: String
    let password: String

    /// Reads `user:password`; the password can have further colons.
    package init(_ text: [UInt8]) {
        let parts = text.split(separator: UInt8(ascii: ":"), maxSplits: 1, omittingEmptySubsequences: false)
        user = String(decoding: parts[0], as: UTF8.self)
        password = parts.count > 1 ? String(decoding: parts[1], as: UTF8.self) : ""
    }

    package var description: String { "<proxy login>" }
    package var customMirror: Mirror { Mirror(self, children: []) }
}
