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
        let first = line.indices.first { Self.canHide(line[$0]) && scanner.hiddenUnit(at: $0) != nil }
        guard let first else { return nil }
        var position = Self.escapeStart(before: first, in: line)
        var bytes = Array(line[..<position])
        var origins = Array(0..<position)
        while position < line.count {
            let hidden = Self.canHide(line[position]) ? scanner.hiddenUnit(at: position) : nil
            var end = position + (hidden?.length ?? 1)
            if hidden == nil, line[position] == 0x5C {
                // The backslashes of one escape belong together.
                while end < line.count, line[end] == 0x5C { end += 1 }
            }
            if let hidden {
                if let value = hidden.value {
                    bytes.append(value)
                    origins.append(position)
                }
            } else {
                bytes.append(contentsOf: line[position..<end])
                origins.append(contentsOf: position..<end)
            }
            position = end
        }
        origins.append(line.count)
        (self.bytes, self.origins) = (bytes, origins)
    }

    /// The first of the backslashes that end at a position.
    private static func escapeStart(before end: Int, in line: UnsafeBufferPointer<UInt8>) -> Int {
        var start = end
        while start > 0, line[start - 1] == 0x5C { start -= 1 }
        return start
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
