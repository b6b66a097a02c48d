/// The pages of the runbooks: one each, and their index.
struct RunbookPage: Sendable {
    /// Whether the same server has the control API.
    var canControl = false
    var dashboards: String?

    /// `/help/runbooks`
    func index(nonce: String) -> HTML {
        let rows = Runbook.all.map { runbook -> HTML in
            let meaning = Markdown().html(runbook.meaning)
            return """
                <tr><th scope="row"><a href="runbooks/\(runbook.name)">\(runbook.name)</a></th><td>\(meaning)</td></tr>

                """
        }
        let main: HTML = """
            <div class="help"><h1>Runbooks</h1>
            <section class="card runbooks" aria-label="Runbooks"><p>What each alert means, and what to do.</p>
            <table aria-label="Runbooks"><thead><tr><th scope="col">Alert</th><th scope="col">Meaning</th></tr></thead>
            <tbody>\(rows)</tbody></table></section>
            </div>
            """
        return frame("Runbooks", main, root: "../").html(nonce: nonce)
    }

    /// `/help/runbooks/NAME`
    func page(_ runbook: Runbook, nonce: String) -> HTML {
        let text = Markdown { $0 == runbook.name ? nil : Runbook.find($0)?.name }.html(runbook.text)
        let main: HTML = """
            <div class="help"><article class="card runbook">
            \(text)</article>
            <p><a href="../runbooks">All runbooks</a></p></div>
            """
        return frame(runbook.name, main, root: "../../").html(nonce: nonce)
    }

    private func frame(_ title: String, _ main: HTML, root: HTML) -> PageFrame {
        var frame = PageFrame(title: title, main: main)
        frame.root = root
        frame.canControl = canControl
        frame.dashboards = dashboards
        return frame
    }
}
