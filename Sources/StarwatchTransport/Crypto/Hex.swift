/// Hexadecimal encoding.
package enum Hex {
    /// The digit of four bits. Not from a table, whose bounds would be checked for each.
    static func digit(_ bits: UInt8) -> UInt8 { bits &+ (bits < 10 ? UInt8(ascii: "0") : UInt8(ascii: "a") - 10) }

    /// Encodes each byte as two lower-case digits.
    package static func encode(_ bytes: some Sequence<UInt8>) -> String {
        // Callers in other modules do not specialise a loop over a sequence, which then takes 400 instructions a byte.
        bytes.withContiguousStorageIfAvailable(text) ?? Array(bytes).withUnsafeBufferPointer(text)
    }

    private static func text(_ bytes: UnsafeBufferPointer<UInt8>) -> String {
        String(unsafeUninitializedCapacity: bytes.count * 2) { output in
            for (index, byte) in bytes.enumerated() {
                output[2 * index] = digit(byte >> 4)
                output[2 * index + 1] = digit(byte & 15)
            }
            return bytes.count * 2
        }
    }

    /// Decodes pairs of digits, ignoring case; `nil` for an odd count or other characters.
    static func decode(_ text: some Collection<UInt8>) -> [UInt8]? {
        let digits = text.compactMap { Character(Unicode.Scalar($0)).hexDigitValue }
        guard digits.count == text.count, digits.count % 2 == 0 else { return nil }
        return stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
    }
}
