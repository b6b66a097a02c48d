/// The two names of one request: the agent's and the server's.
package struct RequestTrace: Sendable, Hashable {
    /// `X-Request-ID`, as the agent sent it.
    package let id: String
    /// The server's identifier, from the response's body or header; `nil` if it sent none that can be shown.
    package var serverID: String?

    package init(id: String, serverID: String?) { (self.id, self.serverID) = (id, serverID) }

    /// Returns a server's identifier if logs and exemplars can show it: `req_` with at most 32 letters and digits, or a
    /// UUID. Any other text can be a name, a secret or a claim id.
    package static func shown(_ text: String?) -> String? {
        guard let text else { return nil }
        let bytes = Array(text.utf8)
        if text.hasPrefix("req_") {
            let rest = bytes.dropFirst(4)
            return (1...32).contains(rest.count) && rest.allSatisfy(\.isAlphanumeric) ? text : nil
        }
        let isUUID =
            bytes.count == 36
            && bytes.enumerated().allSatisfy { index, byte in
                [8, 13, 18, 23].contains(index)
                    ? byte == UInt8(ascii: "-") : byte.isDigit || (97...102).contains(byte | 32)
            }
        return isUUID ? text : nil
    }
}

/// The phases of a request, each timed from the end of the one before it.
public enum RequestPhase: String, Sendable, CaseIterable {
    case dns
    case connect
    case tls
    case firstByte = "first_byte"
    case transfer
}
