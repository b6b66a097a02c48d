import StarwatchCore

extension HTML {
    /// The text, in red if something is wrong with it.
    func alarming(_ isBad: Bool = true) -> HTML { isBad ? "<span class=\"bad\">\(self)</span>" : self }

    /// The words in place of a value.
    static func absent(_ words: HTML) -> HTML { "<span class=\"none\">\(words)</span>" }

    /// A card with a heading.
    static func card(_ id: HTML, _ title: HTML, kind: HTML = "card", _ content: HTML) -> HTML {
        "<section class=\"\(kind)\" aria-labelledby=\"\(id)\"><h2 id=\"\(id)\">\(title)</h2>\(content)</section>"
    }

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

    /// A card with a table, whose caption is its title.
    ///
    /// - Parameters:
    ///   - kind: The class of the table.
    ///   - more: What follows the table, with a line end.
    static func table(
        _ id: HTML,
        _ caption: HTML,
        kind: HTML = "polls",
        isHeadSeen: Bool = true,
        of columns: [HTML],
        rows: [HTML],
        more: HTML = ""
    ) -> HTML {
        let head: [HTML] = columns.map { "<th scope=\"col\">\($0)</th>" }
        let looks: HTML = isHeadSeen ? "" : " class=\"unseen\""
        return """
            <section class="card" aria-labelledby="\(id)">
            <table class="\(kind)">
            <caption id="\(id)">\(caption)</caption>
            <thead\(looks)><tr>\(head)</tr></thead>
            <tbody>\(rows)</tbody>
            </table>
            \(more)</section>
            """
    }
}
