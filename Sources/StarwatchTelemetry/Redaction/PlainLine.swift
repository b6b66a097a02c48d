/// A line with its hidden characters decoded: HTML entities and full-width forms as ASCII, characters without width left
/// out.
struct PlainLine {
    private let bytes: [UInt8]
    /// The position in the original line of each byte, and of the end.
    private let origins: [Int]

    /// Decodes a line.
    ///
    /// - Returns: `nil` if the line has no hidden character.
    init?(_ line: UnsafeBufferPointer<UInt8>) {
        let scanner = RedactionScanner(bytes: line)
        var first = 0
        while first < line.count, !Self.canHide(line[first]) || scanner.hiddenUnit(at: first) == nil { first += 1 }
        guard first < line.count else { return nil }
        var position = first
        var bytes = Array(line[..<first])
        var origins = Array(0..<first)
        while position < line.count {
            let hidden = Self.canHide(line[position]) ? scanner.hiddenUnit(at: position) : nil
            if let byte = hidden == nil ? line[position] : hidden?.value {
                bytes.append(byte)
                origins.append(position)
            }
            position += hidden?.length ?? 1
        }
        origins.append(line.count)
        (self.bytes, self.origins) = (bytes, origins)
    }

    private static func canHide(_ byte: UInt8) -> Bool {
        byte >= 0xC2 || byte == UInt8(ascii: "&") || byte == UInt8(ascii: "%") || byte == UInt8(ascii: "\\")
    }

    /// The ranges to replace in the original line.
    var replacements: [RedactionScanner.Replacement] {
        bytes.withUnsafeBufferPointer { bytes in
            var scanner = RedactionScanner(bytes: bytes)
            return scanner.run().map { replacement in
                let (start, end) = (replacement.range.lowerBound, replacement.range.upperBound)
                return .init(range: origins[start]..<origins[end], kind: replacement.kind)
            }
        }
    }
}
