import StarwatchCore
import StarwatchTelemetry

/// Text for a terminal.
package enum TerminalText {
    /// Whether to use colour: on a terminal that supports it, unless `NO_COLOR` has a value.
    package static func isColourWanted(isTerminal: Bool, environment: [String: String]) -> Bool {
        TerminalColour.isWanted(isTerminal: isTerminal, environment: environment)
    }

    /// Returns `text` with `?` in place of characters that could control the terminal or change the reading direction.
    /// Names come from strangers. The marks that isolate a name stay.
    package static func printable(_ text: String) -> String {
        String(
            String.UnicodeScalarView(
                BidiText.balanced(text).unicodeScalars.map { isPrintable($0) || isIsolating($0) ? $0 : "?" }
            )
        )
    }

    private static func isIsolating(_ scalar: Unicode.Scalar) -> Bool { scalar == "\u{2068}" || scalar == "\u{2069}" }

    /// Returns whether a character neither controls a terminal nor changes the reading direction.
    package static func isPrintable(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator: false
        default: true
        }
    }
}
