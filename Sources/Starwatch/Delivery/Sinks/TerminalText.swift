/// Text that goes to a terminal.
package enum TerminalText {
    /// `text` with `?` in the place of what could drive the terminal or turn the reading direction: names come from
    /// strangers.
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
