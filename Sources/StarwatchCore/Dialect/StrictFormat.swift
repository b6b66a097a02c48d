/// The formats of the contract's schema, which strict validation checks.
enum StrictFormat {
    /// Whether the text is an identifier of the canonical dialect.
    static func isCanonicalID(_ text: String) -> Bool { JWTID(text)?.kind == .timestamped }

    /// Whether the text is an ISO 8601 time with `T`, an optional fraction of any length, and `Z`: `.datetime()` of the
    /// schema. Offsets, small letters and leap seconds are not allowed (R-VAL-06).
    static func isDateTime(_ text: String) -> Bool {
        let bytes = Array(text.utf8)
        guard bytes.count >= 20, bytes[10] == UInt8(ascii: "T"), bytes.last == UInt8(ascii: "Z") else { return false }
        return bytes[17] < UInt8(ascii: "6") && Timestamp(iso8601: text) != nil
    }

    /// Whether the text is an absolute URL: `.url()` of the schema, which accepts what a browser parses.
    ///
    /// Any scheme will do. One of the web's needs a host as well.
    static func isURL(_ text: String) -> Bool {
        // A browser drops these at both ends.
        let trimmed = Array(text.utf8.drop { $0 <= 32 }.reversed().drop { $0 <= 32 }.reversed())
        guard let colon = trimmed.firstIndex(of: UInt8(ascii: ":")) else { return false }
        let scheme = String(decoding: trimmed[..<colon], as: UTF8.self).lowercased()
        guard let first = scheme.utf8.first, isLetter(first),
            scheme.utf8.allSatisfy({ isLetter($0) || (48...57).contains($0) || [43, 45, 46].contains($0) })
        else { return false }
        guard ["http", "https", "ws", "wss", "ftp"].contains(scheme) else { return true }
        let isSlash = { (byte: UInt8) in byte == UInt8(ascii: "/") || byte == UInt8(ascii: "\\") }
        let rest = trimmed[(colon + 1)...].drop(while: isSlash)
        let authority = rest.prefix { !isSlash($0) && $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
        let hostAndPort = authority.lastIndex(of: UInt8(ascii: "@")).map { authority[($0 + 1)...] } ?? authority
        return isHost(hostAndPort)
    }

    private static func isHost(_ text: ArraySlice<UInt8>) -> Bool {
        var host = text
        // The colons of an IPv6 address are inside of its brackets.
        if let colon = text.lastIndex(of: UInt8(ascii: ":")), !text[colon...].contains(UInt8(ascii: "]")) {
            let port = text[(colon + 1)...]
            guard port.allSatisfy({ (48...57).contains($0) }),
                port.isEmpty || Int(String(decoding: port, as: UTF8.self)) ?? .max <= 65535
            else { return false }
            host = text[..<colon]
        }
        if host.first == UInt8(ascii: "["), host.last == UInt8(ascii: "]") {
            return host.count > 3
                && host.dropFirst().dropLast().allSatisfy { byte in
                    (48...58).contains(byte) || (65...70).contains(byte) || (97...102).contains(byte) || byte == 46
                }
        }
        let forbidden = Array("<>[]^|%: ".utf8)
        return !host.isEmpty && host.allSatisfy { $0 > 32 && $0 != 127 && !forbidden.contains($0) }
    }

    private static func isLetter(_ byte: UInt8) -> Bool { (65...90).contains(byte) || (97...122).contains(byte) }
}
