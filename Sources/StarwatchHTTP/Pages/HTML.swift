import StarwatchCore

/// A piece of HTML. Text enters only by interpolation, which escapes it, and shows controls that would reorder the text around
/// it.
///
/// ```swift
/// let cell: HTML = "<td title=\"\(name)\">\(name)</td>"
/// ```
struct HTML: Sendable, Hashable, ExpressibleByStringInterpolation {
    private(set) var text: String

    init(stringLiteral text: StaticString) { self.text = text.description }

    init(stringInterpolation: StringInterpolation) { text = stringInterpolation.text }

    /// A text in which commands and settings stand between backticks.
    ///
    /// - Parameter words: The form of the text between them.
    init(codeIn text: String, words: (String) -> HTML = { "\($0)" }) {
        let parts = text.split(separator: "`", omittingEmptySubsequences: false).enumerated()
        self =
            "\(parts.map { index, part in index % 2 == 1 ? "<code>\(String(part))</code>" : words(String(part)) })"
    }

    struct StringInterpolation: StringInterpolationProtocol {
        fileprivate var text = ""

        init(literalCapacity: Int, interpolationCount: Int) {
            text.reserveCapacity(literalCapacity + interpolationCount * 16)
        }

        /// Called by the compiler with the text between the interpolations.
        mutating func appendLiteral(_ literal: StaticString) { text += literal.description }

        mutating func appendInterpolation(_ value: String) {
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

        mutating func appendInterpolation(_ value: Int) { text += String(value) }

        mutating func appendInterpolation(_ value: HTML) { text += value.text }

        mutating func appendInterpolation(_ values: [HTML]) { for value in values { text += value.text } }
    }
}

extension HTML {
    /// A bar of parts, each with a share of the whole. Widths are attributes, because the page's policy allows no inline
    /// styles.
    static func bar(_ parts: [(kind: HTML, share: Double)]) -> HTML {
        var start = 0
        let pieces = parts.map { part -> HTML in
            let share = part.share.isFinite ? min(max(part.share, 0), 1) : 0
            // Even the smallest share must be visible.
            let width = share == 0 ? 0 : min(max(Int(share * 1000), 6), 1000 - start)
            defer { start += width }
            return "<rect class=\"\(part.kind)\" x=\"\(start)\" width=\"\(width)\" height=\"8\"/>"
        }
        return """
            <svg class="bar" viewBox="0 0 1000 8" preserveAspectRatio="none" aria-hidden="true">\(pieces)</svg>
            """
    }
}
