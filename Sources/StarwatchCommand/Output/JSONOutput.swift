import FoundationEssentials
import Starwatch
import StarwatchCore

/// JSON for people and programs: indented, keys in order.
enum JSONOutput {
    static func encode(_ value: some Encodable) throws -> String {
        printable(String(decoding: try ControlJSON.encode(value, isPretty: true), as: UTF8.self))
    }

    /// Returns `text`, JSON, with escapes in place of characters that could control a terminal.
    ///
    /// Encoders escape only those below U+0020. All others can only be in a JSON string, where an escape means the same.
    static func printable(_ text: String) -> String {
        guard text.utf8.contains(where: { $0 >= 0x7F }) else { return text }
        var result = ""
        for scalar in text.unicodeScalars {
            if scalar.value < 0x7F || TerminalText.isPrintable(scalar) {
                result.unicodeScalars.append(scalar)
            } else {
                for unit in UTF16.encode(scalar)! { result += "\\u" + String(unit, width: 4, radix: 16) }
            }
        }
        return result
    }
}

extension VersionReport: HasOwnKeys {}
