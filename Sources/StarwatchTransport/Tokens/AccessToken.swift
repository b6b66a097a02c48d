package import StarwatchCore

/// A bearer token. Prints as `<token>`; whoever needs the text asks for ``rawValue``.
package struct AccessToken: Sendable, Hashable, CustomStringConvertible, CustomDebugStringConvertible,
    CustomReflectable
{
    package let rawValue: String
    /// When the server stops accepting it, in server time; `nil` when the token does not say.
    package let expiresAt: Timestamp?

    package init(rawValue: String, expiresAt: Timestamp?) {
        self.rawValue = rawValue
        self.expiresAt = expiresAt
    }

    package var description: String { "<token>" }
    package var debugDescription: String { "<token>" }
    package var customMirror: Mirror { Mirror(self, children: []) }
}
