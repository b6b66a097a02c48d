/// The formats of the contract's schema, which strict validation checks in the bytes of the page.
enum StrictFormat {
    /// Whether the text is an ISO 8601 time with `T`, an optional fraction of any length, and `Z`: `.datetime()` of the
    /// schema. Offsets, small letters and leap seconds are not allowed (R-VAL-06).
    static func isDateTime(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
        guard text.count >= 20, text[10] == UInt8(ascii: "T"), text[text.count - 1] == UInt8(ascii: "Z") else {
            return false
        }
        return text[17] < UInt8(ascii: "6") && Timestamp(iso8601: text) != nil
    }

    /// Whether the text begins with `did:key:`, the last colon without a combining mark.
    static func isKeyDID(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
        guard text.starts(with: "did:key:".utf8) else { return false }
        return text.count == 8 || text[8] < 0x80 || String(decoding: text, as: UTF8.self).hasPrefix("did:key:")
    }

    /// Whether the text is an absolute URL: `.url()` of the schema, which accepts what a browser parses.
    ///
    /// Any scheme will do. One of the web's needs a host as well.
    static func isURL(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
        // A browser drops these at both ends.
        var trimmed = text.drop { $0 <= 32 }
        while let last = trimmed.last, last <= 32 { trimmed.removeLast() }
        guard let colon = trimmed.firstIndex(of: UInt8(ascii: ":")) else { return false }
        let scheme = trimmed[..<colon]
        guard let first = scheme.first, isLetter(first),
            scheme.allSatisfy({ isLetter($0) || (48...57).contains($0) || $0 == 43 || $0 == 45 || $0 == 46 })
        else { return false }
        let isOfTheWeb = webSchemes.contains { name in
            name.utf8CodeUnitCount == scheme.count
                && zip(scheme, name.withUTF8Buffer(\.self)).allSatisfy { $0 | 0x20 == $1 }
        }
        guard isOfTheWeb else { return true }
        let isSlash = { (byte: UInt8) in byte == UInt8(ascii: "/") || byte == UInt8(ascii: "\\") }
        let rest = trimmed[(colon + 1)...].drop(while: isSlash)
        let authority = rest.prefix { !isSlash($0) && $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
        let hostAndPort = authority.lastIndex(of: UInt8(ascii: "@")).map { authority[($0 + 1)...] } ?? authority
        return isHost(hostAndPort)
    }

    private static let webSchemes: [StaticString] = ["http", "https", "ws", "wss", "ftp"]

    private static func isHost(_ text: Slice<UnsafeBufferPointer<UInt8>>) -> Bool {
        var host = text
        // The colons of an IPv6 address are inside of its brackets.
        if let colon = text.lastIndex(of: UInt8(ascii: ":")), !text[colon...].contains(UInt8(ascii: "]")) {
            let port = text[(colon + 1)...]
            guard port.allSatisfy({ (48...57).contains($0) }),
                port.reduce(0, { min($0 * 10 + Int($1 - 48), 65536) }) <= 65535
            else { return false }
            host = text[..<colon]
        }
        if host.first == UInt8(ascii: "["), host.last == UInt8(ascii: "]") {
            return host.count > 3
                && host.dropFirst().dropLast().allSatisfy { byte in
                    (48...58).contains(byte) || (65...70).contains(byte) || (97...102).contains(byte) || byte == 46
                }
        }
        return !host.isEmpty && host.allSatisfy(isPartOfHost)
    }

    private static func isPartOfHost(_ byte: UInt8) -> Bool {
        switch byte {
        case 0...32, 127, UInt8(ascii: "<"), UInt8(ascii: ">"), UInt8(ascii: "["), UInt8(ascii: "]"),
            UInt8(ascii: "^"), UInt8(ascii: "|"), UInt8(ascii: "%"), UInt8(ascii: ":"):
            false
        default: true
        }
    }

    private static func isLetter(_ byte: UInt8) -> Bool { (65...90).contains(byte) || (97...122).contains(byte) }
}
