package import StarwatchCore

/// A bearer token. Prints as `<token>`; only ``rawValue`` holds the text.
package struct AccessToken: Sendable, Hashable, CustomStringConvertible, CustomDebugStringConvertible,
    CustomReflectable
{
    package let rawValue: String
    /// Expiry in server time; `nil` when the token does not state one.
    package let expiresAt: Timestamp?

    package init(rawValue: String, expiresAt: Timestamp?) {
        self.rawValue = rawValue
        self.expiresAt = expiresAt
    }

    package var description: String { "<token>" }
    package var debugDescription: String { "<token>" }
    package var customMirror: Mirror { Mirror(self, children: []) }
}
