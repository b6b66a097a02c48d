import Starwatch
import StarwatchCore

/// The life of a change, a notification or a run. Stories are served only by the control API.
struct StoryPage: Sendable {
    /// The text of the form; `nil` on the page's first visit.
    let id: String?
    var story: Story?
    /// The reason why there is no story, as one sentence.
    var problem: String?
    let times: PageTimes

    var frame: PageFrame { PageFrame(title: "Explain", aside: times.asOf, main: main) }

    private var main: HTML {
        let problem: HTML = problem.map { "<p class=\"card bad\" role=\"alert\">\($0)</p>" } ?? ""
        return """
            <div class="help story"><h1>Explain</h1>
            <form class="card" action="explain" method="get">
            <label for="id">Claim id, <code>chg_…</code>, outbox row, <code>ntf_…</code> or <code>run_…</code></label>
            <input id="id" name="id" value="\(id ?? "")" required autocomplete="off" spellcheck="false">
            <button>Explain</button>
            </form>
            \(problem)
            \(story.map(sections) ?? "")
            </div>
            """
    }

    private func sections(_ story: Story) -> HTML {
        """
        <section class="card" aria-labelledby="what"><h2 id="what">\(story.title)</h2>
        <dl>
        <dt>Id</dt><dd><code>\(story.id)</code></dd>
        <dt>State</dt><dd><span class="pill">\(story.state)</span></dd>
        \(field("Poll", story.pollNames))
        \(field("Identity", story.identity))
        \(field("Row", story.row.map(String.init)))
        \(otherRows(story))
        \(link("Run", story.runID))
        \(link("Notification", story.notificationID))
        </dl></section>
        \(story.coverage.map(covered) ?? life(story))
        \(others(story))
        """
    }

    private func life(_ story: Story) -> HTML { "\(waits(story))\(steps(story))" }

    private func steps(_ story: Story) -> HTML {
        """
        <section class="card" aria-labelledby="steps"><table class="steps">
        <caption id="steps">Steps</caption>
        <thead><tr><th scope="col">Time</th><th scope="col">After</th><th scope="col">Step</th><th scope="col">Details</th></tr></thead>
        <tbody>\(story.steps.map(row))</tbody>
        </table></section>
        """
    }

    /// The reason of each poll why there is no row.
    private func covered(_ coverage: [Story.Covered]) -> HTML {
        let items: [HTML] = coverage.map { poll in
            let run: HTML =
                poll.runID.map { id in
                    " Run \(Self.link(id)): \(poll.runOutcome ?? "") \(times.ageAndTime(poll.runAt))."
                } ?? ""
            let next: HTML = poll.nextRun.map { " Next run \(times.ageAndTime($0))." } ?? ""
            return """
                <li>\(poll.poll ?? "") <span class="pill">\(poll.reason.rawValue)</span> \(poll.sentence)\(run)\(next)</li>
                """
        }
        return .card("covered", "Polls", "<ul>\(items)</ul>")
    }

    private func field(_ name: HTML, _ value: String?) -> HTML {
        value.map { "<dt>\(name)</dt><dd>\($0)</dd>" } ?? ""
    }

    private func link(_ name: HTML, _ id: String?) -> HTML {
        id.map { "<dt>\(name)</dt><dd>\(Self.link($0))</dd>" } ?? ""
    }

    /// A link to another story. Ids are letters, digits and `_`.
    static func link(_ id: String) -> HTML { "<a href=\"explain?id=\(id)\"><code>\(id)</code></a>" }

    /// The other rows of the same change, each with its own story.
    private func otherRows(_ story: Story) -> HTML {
        guard let rows = story.otherRows, !rows.isEmpty else { return "" }
        let links: [HTML] = rows.map { "\(Self.link(String($0))) " }
        return "<dt>Other rows</dt><dd>\(links)</dd>"
    }

    private func waits(_ story: Story) -> HTML {
        guard !story.waits.isEmpty else {
            return
                "<section class=\"card\" aria-label=\"Waits\"><p class=\"finished\">It waits for nothing.</p></section>"
        }
        let items: [HTML] = story.waits.map { wait in
            let until: HTML = wait.until.map { " Ends \(times.ageAndTime($0))." } ?? ""
            return "<li>\(wait.sentence)\(until)</li>"
        }
        return .card("waits", "Waits for", kind: "card waiting", "<ul>\(items)</ul>")
    }

    private func row(_ step: Story.Step) -> HTML {
        let hasFailed = step.step == .dead || step.step == .attempt && step.result != "ok"
        let failed: HTML = hasFailed ? " class=\"failed\"" : ""
        return """
            <tr><td>\(times.ageAndTime(step.at))</td><td>\(step.after)</td>\
            <td\(failed)>\(step.step.rawValue)</td>\
            <td>\(step.details)</td></tr>

            """
    }

    private func others(_ story: Story) -> HTML {
        let rows: [HTML] = (story.rows ?? []).map { "<li>\(Self.link($0.id)) \($0.state.rawValue)</li>" }
        let notifications: [HTML] = (story.notifications ?? []).map { "<li>\(Self.link($0))</li>" }
        guard !rows.isEmpty || !notifications.isEmpty else { return "" }
        return .card("parts", "Changes and notifications", "\n<ul>\(rows)\(notifications)</ul>")
    }
}

extension StoryPage {
    /// The page on the read-only server, where links of dashboards lead: how to get the story.
    static func elsewhere(_ id: String?) -> PageFrame {
        let command: HTML = "starwatch explain \(id ?? "ID")"
        let main: HTML = """
            <div class="help story"><h1>Explain</h1>
            <section class="card" aria-label="Explain"><p>This port is read-only and shows no stories. On the agent’s machine, run \
            <code>\(command)</code>. With the token or a password, the port of <code>control.listen</code> has \
            this page with the story.</p></section>
            </div>
            """
        return PageFrame(title: "Explain", main: main)
    }
}
