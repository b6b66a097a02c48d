package import FoundationEssentials

extension JSONEncoder {
    /// Creates an encoder whose output depends on the value alone: keys are sorted and slashes are not escaped.
    ///
    /// - Parameter isPretty: Whether the output is indented over several lines.
    package static func stable(isPretty: Bool = false) -> JSONEncoder {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        if isPretty { encoder.outputFormatting.insert(.prettyPrinted) }
        return encoder
    }
}
