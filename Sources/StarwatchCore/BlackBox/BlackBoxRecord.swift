/// A record of the black box: a line of the log, or a mark of the agent's life.
package struct BlackBoxRecord: Sendable, Hashable {
    /// The raw values are stored.
    package enum Kind: UInt8, Sendable, CaseIterable {
        /// A redacted line of the log.
        case line = 1
        /// The start of a run. The text is a ``RunStart``.
        case start
        /// The agent was asked to stop.
        case stopping
        /// The end of a run. The text is a ``RunEndCause``.
        case end
        /// A signal that ends the process. The text is a ``RunEndCause`` and the signal's number.
        case crash

        /// The ring that holds it. Many lines must not push out the marks.
        var ring: BlackBoxRing.Kind { self == .line ? .lines : .marks }
    }

    package let kind: Kind
    /// The position in its ring, which rises with every record.
    package let sequence: UInt64
    package let at: Timestamp
    package let text: String

    package init(_ kind: Kind, sequence: UInt64, at: Timestamp, _ text: String = "") {
        (self.kind, self.sequence, self.at, self.text) = (kind, sequence, at, text)
    }
}

/// The record in the file: a head of 32 bytes, the text, and zeros up to a multiple of 64 bytes.
///
/// The head has a mark that is no UTF-8, so that no text can look like a record; the version, the length, the kind, the
/// sequence, the time, and a checksum of all of it and of the text. Numbers are little-endian.
extension BlackBoxRecord {
    /// The version of the form.
    package static let version: UInt8 = 1
    /// Records begin at multiples of it.
    package static let slotBytes = 64
    static let headBytes = 32
    /// The longest text in bytes. Longer ones are cut.
    package static let textLimitBytes = 4096
    private static let mark: [UInt8] = [0xFF, 0x53, 0x42]

    package var frame: [UInt8] {
        let text = Self.cut(Array(text.utf8))
        var bytes = [UInt8](repeating: 0, count: Self.frameBytes(text.count))
        bytes.replaceSubrange(0..<3, with: Self.mark)
        bytes[3] = Self.version
        bytes.withUnsafeMutableBytes { buffer in
            buffer.storeBytes(of: UInt16(text.count).littleEndian, toByteOffset: 4, as: UInt16.self)
            buffer[6] = kind.rawValue
            buffer.storeBytes(of: sequence.littleEndian, toByteOffset: 8, as: UInt64.self)
        }
        bytes.replaceSubrange(Self.headBytes..<Self.headBytes + text.count, with: text)
        bytes.withUnsafeMutableBytes { Self.seal($0, at: at.milliseconds) }
        return bytes
    }

    /// The length of a record with a text of so many bytes.
    private static func frameBytes(_ text: Int) -> Int { (headBytes + text + slotBytes - 1) / slotBytes * slotBytes }

    /// Writes the time and the checksum into a record. Allocates nothing, so that a signal handler can call it.
    package static func seal(_ frame: UnsafeMutableRawBufferPointer, at milliseconds: Int64) {
        frame.storeBytes(of: milliseconds.littleEndian, toByteOffset: 16, as: Int64.self)
        let sum = checksum(UnsafeRawBufferPointer(frame), text: Int(frame[4]) | Int(frame[5]) << 8)
        frame.storeBytes(of: sum.littleEndian, toByteOffset: 24, as: UInt32.self)
    }

    /// Whether a record begins at `offset`, in whatever condition.
    static func isMarked(_ bytes: UnsafeRawBufferPointer, at offset: Int) -> Bool {
        offset + headBytes <= bytes.count && mark.indices.allSatisfy { bytes[offset + $0] == mark[$0] }
    }

    /// The record that begins at `offset`, with its length in the file; `nil` for one of another version, and one that was not
    /// completely written or is damaged.
    static func read(_ bytes: UnsafeRawBufferPointer, at offset: Int) -> (record: BlackBoxRecord, bytes: Int)? {
        guard bytes[offset + 3] == version else { return nil }
        let count = Int(UInt16(littleEndian: bytes.loadUnaligned(fromByteOffset: offset + 4, as: UInt16.self)))
        guard count <= textLimitBytes, offset + headBytes + count <= bytes.count else { return nil }
        let frame = UnsafeRawBufferPointer(rebasing: bytes[offset..<offset + headBytes + count])
        let sum = UInt32(littleEndian: frame.loadUnaligned(fromByteOffset: 24, as: UInt32.self))
        guard sum == checksum(frame, text: count), let kind = BlackBoxRecord.Kind(rawValue: frame[6]) else {
            return nil
        }
        let milliseconds = Int64(littleEndian: frame.loadUnaligned(fromByteOffset: 16, as: Int64.self))
        let record = BlackBoxRecord(
            kind,
            sequence: UInt64(littleEndian: frame.loadUnaligned(fromByteOffset: 8, as: UInt64.self)),
            at: Timestamp(milliseconds: milliseconds),
            String(decoding: frame[headBytes...], as: UTF8.self)
        )
        return (record, frameBytes(count))
    }

    /// The CRC-32C of the head, without the sum itself, and of the text.
    private static func checksum(_ frame: UnsafeRawBufferPointer, text: Int) -> UInt32 {
        var sum: UInt32 = ~0
        var index = 0
        while index < headBytes + text {
            if index < 24 || index >= 28 {
                sum ^= UInt32(frame[index])
                var bit = 0
                while bit < 8 {
                    sum = sum & 1 == 1 ? sum >> 1 ^ 0x82F6_3B78 : sum >> 1
                    bit += 1
                }
            }
            index += 1
        }
        return ~sum
    }

    /// The text up to the limit, without a part of a character at its end.
    private static func cut(_ text: [UInt8]) -> ArraySlice<UInt8> {
        guard text.count > textLimitBytes else { return text[...] }
        var end = textLimitBytes
        while end > 0, text[end] & 0xC0 == 0x80 { end -= 1 }
        return text[..<end]
    }
}
