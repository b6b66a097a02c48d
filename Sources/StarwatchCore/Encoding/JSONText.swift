import FoundationEssentials

/// A check of JSON without decoding it.
public enum JSONText {
    /// Returns whether the bytes are one complete JSON value in UTF-8.
    public static func isValid(_ bytes: [UInt8]) -> Bool {
        // The decoder checks the encoding only of the texts that it decodes.
        guard (try? UTF8Span(validating: bytes.span)) != nil else { return false }
        return (try? JSONDecoder().decode(Anything.self, from: Data(bytes))) != nil
    }

    private struct Anything: Decodable {
        init(from decoder: any Decoder) throws {}
    }
}
