import CEmbedded
import Starwatch
import StarwatchCore

/// The pages of the runbooks: one each, and their index.
extension Runbook {
    /// `/help/runbooks`
    static var index: PageFrame {
        let rows = all.map { runbook -> HTML in
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
        return PageFrame(title: "Runbooks", root: "../", main: main)
    }

    /// The URL of the pages in the texts of runbooks, which is that of the default configuration.
    private static let written = "http://\(HTTPOptions().listen)"

    /// `/help/runbooks/NAME`
    ///
    /// - Parameter pages: The URL of this agent's pages, for the commands; `nil` if it is not known.
    func page(pages: String?) -> PageFrame {
        let commands = pages.map { text.replacing(Self.written, with: $0) } ?? text
        let shown = Markdown { $0 == name ? nil : Runbook.find($0)?.name }.html(commands)
        let main: HTML = """
            <div class="help"><article class="card runbook">
            \(shown)</article>
            <p><a href="../runbooks">All runbooks</a></p></div>
            """
        return PageFrame(title: name, root: "../../", main: main)
    }
}

/// An alert's runbook, as `alerts/runbooks` has it.
struct Runbook: Sendable {
    /// The alert's name.
    let name: String
    /// The text in Markdown.
    let text: String

    /// - Parameter text: The text, whose first line is `# ` and the alert's name.
    private init(_ text: String) {
        name = String(text.dropFirst(2).prefix { !$0.isNewline })
        self.text = text
    }

    /// Returns the runbook of an alert; `nil` if there is none. `name` can end in `.md`, as a link to the file does.
    static func find(_ name: String) -> Runbook? { all.first { $0.name == name || $0.name + ".md" == name } }

    /// The first sentences: the section "Meaning".
    var meaning: String {
        let sections = text.split(separator: "\n## ", maxSplits: 2)
        guard sections.count > 1, let end = sections[1].firstIndex(of: "\n") else { return "" }
        return String(sections[1][end...].trimmingPrefix { $0.isNewline })
    }

    /// All runbooks by name. A test compares the list with the folder.
    static let all = [UInt8](starwatch_runbooks()).split(separator: 0).map { text in
        Runbook(String(decoding: text, as: UTF8.self))
    }
}
