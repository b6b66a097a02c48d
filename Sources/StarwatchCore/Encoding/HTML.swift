/// A piece of HTML. Text enters only by interpolation, which escapes it, and shows controls that would reorder the text around
/// it.
///
/// ```swift
/// let cell: HTML = "<td title=\"\(name)\">\(name)</td>"
/// ```
package struct HTML: Sendable, Hashable, ExpressibleByStringInterpolation {
    package private(set) var text: String

    package init(stringLiteral text: StaticString) { self.text = text.description }

    package init(stringInterpolation: StringInterpolation) { text = stringInterpolation.text }

    /// A file of the program, such as its style sheet. Nothing else is trusted.
    package init(trusted text: String) { self.text = text }

    /// A text in which commands and settings stand between backticks.
    ///
    /// - Parameter words: The form of the text between them.
    package init(codeIn text: String, words: (String) -> HTML = { "\($0)" }) {
        let parts = text.split(separator: "`", omittingEmptySubsequences: false).enumerated()
        self =
            "\(parts.map { index, part in index % 2 == 1 ? "<code>\(String(part))</code>" : words(String(part)) })"
    }

    package struct StringInterpolation: StringInterpolationProtocol {
        fileprivate var text = ""

        package init(literalCapacity: Int, interpolationCount: Int) {
            text.reserveCapacity(literalCapacity + interpolationCount * 16)
        }

        /// Called by the compiler with the text between the interpolations.
        package mutating func appendLiteral(_ literal: StaticString) { text += literal.description }

        package mutating func appendInterpolation(_ value: String) {
            let value = BidiText.visible(value)
            for scalar in value.unicodeScalars {
                switch scalar {
                case "&": text += "&amp;"
                case "<": text += "&lt;"
                case ">": text += "&gt;"
                case "\"": text += "&quot;"
                case "'": text += "&#39;"
                default: text.unicodeScalars.append(scalar)
                }
            }
        }

        package mutating func appendInterpolation(_ value: Int) { text += String(value) }

        package mutating func appendInterpolation(_ value: HTML) { text += value.text }

        package mutating func appendInterpolation(_ values: [HTML]) {
            for value in values { text += value.text }
        }
    }
}
