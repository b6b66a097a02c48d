/// Text for a terminal.
package enum TerminalText {
    /// Returns `text` with `?` in place of characters that could control the terminal or change the reading direction.
    /// Names come from strangers.
    package static func printable(_ text: String) -> String {
        String(
            String.UnicodeScalarView(
                text.unicodeScalars.map { scalar in
                    switch scalar.properties.generalCategory {
                    case .control, .format, .lineSeparator, .paragraphSeparator: "?"
                    default: scalar
                    }
                }
            )
        )
    }
}
