/// Base 64 in both alphabets (RFC 4648). JOSE omits the padding, which Foundation does not support.
enum Base64 {
    private static let standard = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
    private static let urlSafe = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)

    /// Encodes with the URL-safe alphabet without padding, for JWTs.
    static func encodeURL(_ bytes: some Collection<UInt8>) -> String {
        encode(Array(bytes), alphabet: urlSafe, isPadded: false)
    }

    /// Encodes with the standard alphabet and padding.
    static func encode(_ bytes: some Collection<UInt8>) -> String {
        encode(Array(bytes), alphabet: standard, isPadded: true)
    }

    /// Decodes the URL-safe alphabet; `nil` for padding, other characters or non-zero trailing bits.
    static func decodeURL(_ text: some StringProtocol) -> [UInt8]? {
        decode(text.utf8, isURLSafe: true)
    }

    /// Decodes the standard alphabet with or without padding; `nil` for other characters or non-zero trailing bits.
    static func decode(_ text: some StringProtocol) -> [UInt8]? {
        var bytes = Array(text.utf8)
        if bytes.count % 4 == 0 {
            for _ in 0..<2 where bytes.last == UInt8(ascii: "=") { bytes.removeLast() }
        }
        return decode(bytes, isURLSafe: false)
    }

    private static func encode(_ bytes: [UInt8], alphabet: [UInt8], isPadded: Bool) -> String {
        var output: [UInt8] = []
        output.reserveCapacity((bytes.count + 2) / 3 * 4)
        var index = 0
        while index < bytes.count {
            let rest = bytes.count - index
            let group =
                Int(bytes[index]) << 16 | (rest > 1 ? Int(bytes[index + 1]) << 8 : 0)
                | (rest > 2 ? Int(bytes[index + 2]) : 0)
            output.append(alphabet[group >> 18])
            output.append(alphabet[group >> 12 & 63])
            if rest > 1 { output.append(alphabet[group >> 6 & 63]) }
            if rest > 2 { output.append(alphabet[group & 63]) }
            index += 3
        }
        if isPadded { while output.count % 4 != 0 { output.append(UInt8(ascii: "=")) } }
        return String(decoding: output, as: UTF8.self)
    }

    private static func decode(_ text: some Sequence<UInt8>, isURLSafe: Bool) -> [UInt8]? {
        var output: [UInt8] = []
        var bits = 0
        var count = 0
        for byte in text {
            let value: Int
            switch byte {
            case 65...90: value = Int(byte) - 65
            case 97...122: value = Int(byte) - 71
            case 48...57: value = Int(byte) + 4
            case UInt8(ascii: "-") where isURLSafe, UInt8(ascii: "+") where !isURLSafe: value = 62
            case UInt8(ascii: "_") where isURLSafe, UInt8(ascii: "/") where !isURLSafe: value = 63
            default: return nil
            }
            bits = bits << 6 | value
            count += 6
            if count >= 8 {
                count -= 8
                output.append(UInt8(bits >> count & 255))
                bits &= (1 << count) - 1
            }
        }
        guard count < 6, bits == 0 else { return nil }
        return output
    }
}
