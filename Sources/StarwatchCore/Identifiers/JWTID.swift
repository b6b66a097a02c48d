/// The identifier of a change: fixed width, ordered by time, compared as UTF-8 bytes.
///
/// Identifiers of different kinds have no order; ``precedes(_:)`` then returns `nil`.
public struct JWTID: Sendable, Hashable, Codable {
    public let rawValue: String
    public let kind: IDKind

    /// Accepts either kind; `nil` for other texts.
    public init?(_ text: some StringProtocol) {
        var text = String(text)
        let kind = text.withUTF8 { Self.kind(of: $0) }
        guard let kind else { return nil }
        self.rawValue = text
        self.kind = kind
    }

    private init(unchecked rawValue: String, kind: IDKind) {
        self.rawValue = rawValue
        self.kind = kind
    }

    public init(from decoder: any Decoder) throws {
        let text = try decoder.singleValueContainer().decode(String.self)
        guard let id = JWTID(text) else {
            throw DecodingError.dataCorrupted(
                .init(codingPath: decoder.codingPath, debugDescription: "not an identifier of a known kind")
            )
        }
        self = id
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(rawValue)
    }

    /// Whether this identifier sorts before `other`; `nil` for two different kinds.
    public func precedes(_ other: JWTID) -> Bool? { kind == other.kind ? rawValue < other.rawValue : nil }

    /// The time in the identifier, in milliseconds for a ULID and in seconds for the timestamped kind.
    public var timestamp: Timestamp {
        // A string's bytes take a fraction of the instructions that its UTF-8 view takes.
        var text = rawValue
        let number = text.withUTF8 { bytes in
            bytes[..<10].reduce(Int64(0)) { number, byte in
                kind == .ulid ? number << 5 | Int64(Self.value(ofDigit: byte) ?? 0) : number * 10 + Int64(byte - 48)
            }
        }
        return kind == .ulid ? Timestamp(milliseconds: number) : Timestamp(seconds: number)
    }

    /// A cursor for a page that includes this identifier and others of its moment. Servers exclude the cursor itself.
    public var cursorBefore: JWTID { .floor(kind, at: timestamp - .seconds(1)) }

    /// The smallest identifier of `kind` at `time`. Every real one of that moment sorts at or after it.
    ///
    /// Times outside the kind's range are clamped.
    public static func floor(_ kind: IDKind, at time: Timestamp) -> JWTID {
        switch kind {
        case .timestamped:
            let digits = String(min(max(time.wholeSeconds, 0), 9_999_999_999), width: 10)
            return JWTID(unchecked: digits + "_000000_00000000", kind: kind)
        case .ulid:
            var bytes = [UInt8](repeating: UInt8(ascii: "0"), count: 26)
            write(min(max(time.milliseconds, 0), (1 << 48) - 1), to: &bytes, at: 0..<10)
            return JWTID(unchecked: String(decoding: bytes, as: UTF8.self), kind: kind)
        }
    }

    /// An identifier for a change that its server gave none: the smallest ULID of `time` in its stream, or the one after `last`
    /// if that is not smaller.
    ///
    /// - Parameter stream: The number of the stream. Changes of two streams at one moment have different identifiers, because
    ///   one identifier stands for one change wherever it is looked up.
    package static func next(after last: JWTID?, of stream: Int64, at time: Timestamp) -> JWTID {
        var bytes = Array(floor(.ulid, at: time).rawValue.utf8)
        write(stream, to: &bytes, at: 10..<18)
        let first = JWTID(unchecked: String(decoding: bytes, as: UTF8.self), kind: .ulid)
        guard let last, last.kind == .ulid, last.rawValue >= first.rawValue else { return first }
        bytes = Array(last.rawValue.utf8)
        for index in bytes.indices.reversed() {
            let digit = (value(ofDigit: bytes[index]) ?? 0) + 1
            bytes[index] = alphabet[digit & 31]
            if digit < 32 { break }
        }
        return JWTID(unchecked: String(decoding: bytes, as: UTF8.self), kind: .ulid)
    }

    /// The kind of an identifier in UTF-8; `nil` if it is none.
    static func kind(of bytes: UnsafeBufferPointer<UInt8>) -> IDKind? {
        guard bytes.count == 26 else { return nil }
        if bytes[10] == UInt8(ascii: "_") {
            guard bytes[17] == UInt8(ascii: "_") else { return nil }
            for index in 0..<10 where !bytes[index].isDigit { return nil }
            for index in 11..<17 where !bytes[index].isAlphanumeric { return nil }
            for index in 18..<26 where !isLowercaseHex(bytes[index]) { return nil }
            return .timestamped
        }
        for byte in bytes where value(ofDigit: byte) == nil { return nil }
        return .ulid
    }

    private static func isLowercaseHex(_ byte: UInt8) -> Bool {
        byte.isDigit || (97...102).contains(byte)
    }
}

/// Crockford's base 32 in upper case, as in ULIDs.
extension JWTID {
    private static let alphabet = Array("0123456789ABCDEFGHJKMNPQRSTVWXYZ".utf8)

    /// Writes the last digits of a number to a place.
    private static func write(_ number: Int64, to digits: inout [UInt8], at place: Range<Int>) {
        var rest = number
        for index in place.reversed() {
            digits[index] = alphabet[Int(rest & 31)]
            rest >>= 5
        }
    }

    private static func value(ofDigit byte: UInt8) -> Int? {
        switch byte {
        case 48...57: Int(byte) - 48
        case 65...72: Int(byte) - 55
        case 74, 75: Int(byte) - 56
        case 77, 78: Int(byte) - 57
        case 80...84: Int(byte) - 58
        case 86...90: Int(byte) - 59
        default: nil
        }
    }
}

/// The two kinds of JWT IDs. Both have 26 ASCII bytes and sort by time.
public enum IDKind: String, Sendable, CaseIterable, Codable {
    /// `1704067200_abc123_def45678`: seconds, random, hash.
    case timestamped
    /// A ULID: 48 bits of milliseconds and 80 random bits, Crockford base 32.
    case ulid
}
