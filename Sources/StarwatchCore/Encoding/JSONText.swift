/// Checks of JSON without decoding it.
public enum JSONText {
    /// Returns whether the bytes are one complete JSON value in UTF-8, of any depth and size.
    public static func isValid(_ bytes: [UInt8]) -> Bool { bytes.withUnsafeBufferPointer(JSONParser.isValid) }

    /// The deepest nesting of arrays and objects.
    static let deepest = 64
    /// The largest number of elements of an array: far above a real page.
    static let longest = 10_000
    /// The largest number of values: more than 10 MiB of real pages have.
    static let mostValues = 500_000

    /// Returns whether decoding the bytes with Foundation's decoder has a bounded cost. Each value costs it 50 to 100
    /// times its size, so a hostile server could fill the memory with a small answer.
    ///
    /// One pass without decoding. Bytes that are not JSON can pass, but none with a zero byte: Foundation's decoder reads
    /// UTF-16 and UTF-32 too, whose brackets this pass would not see.
    public static func isBounded(_ bytes: [UInt8]) -> Bool {
        // Of each open array; those of an object never reach the limit.
        var elements = [Int](repeating: 0, count: deepest + 1)
        var (depth, values, index) = (0, 0, 0)
        var isText = false
        while index < bytes.count {
            switch (bytes[index], isText) {
            case (0, _): return false
            case (UInt8(ascii: "\\"), true): index += 1
            case (UInt8(ascii: "\""), _): isText.toggle()
            case (_, true): break
            case (UInt8(ascii: "["), _), (UInt8(ascii: "{"), _):
                (depth, values) = (depth + 1, values + 1)
                guard depth <= deepest, values < mostValues else { return false }
                elements[depth] = bytes[index] == UInt8(ascii: "[") ? 1 : -mostValues
            case (UInt8(ascii: "]"), _), (UInt8(ascii: "}"), _): depth = max(depth - 1, 0)
            case (UInt8(ascii: ","), _):
                (elements[depth], values) = (elements[depth] + 1, values + 1)
                guard elements[depth] <= longest, values < mostValues else { return false }
            default: break
            }
            index += 1
        }
        return true
    }
}
