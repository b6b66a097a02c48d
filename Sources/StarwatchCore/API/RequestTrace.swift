/// The two names of one request: the agent's and the server's.
package struct RequestTrace: Sendable, Hashable {
    /// `X-Request-ID`, as the agent sent it.
    package let id: String
    /// The server's identifier, from the response's body or header; `nil` if it sent none that can be shown.
    package let serverID: String?

    package init(id: String, serverID: String?) {
        self.id = id
        self.serverID = serverID
    }

    /// Longest identifier of a server, in bytes.
    private static let longest = 64

    /// Returns a server's identifier if logs and exemplars can show it: letters, digits, `-` and `_`, but no claim id.
    package static func shown(_ text: String?) -> String? {
        guard let text, (1...longest).contains(text.utf8.count), JWTID(text) == nil else { return nil }
        let isPlain = text.utf8.allSatisfy { byte in
            switch byte {
            case 48...57, 65...90, 97...122, UInt8(ascii: "-"), UInt8(ascii: "_"): true
            default: false
            }
        }
        return isPlain ? text : nil
    }
}
