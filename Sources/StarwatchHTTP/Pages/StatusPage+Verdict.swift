import Starwatch
import StarwatchCore

extension StatusPage {
    /// The answer to the operator's first question: is all well, and if not, why.
    struct Verdict {
        var title: String
        var tone: PageFrame.Tone
        /// A sentence, or the list of problems.
        var body: HTML

        var html: HTML {
            let (kind, mark): (HTML, HTML) =
                switch tone {
                case .good: ("good", "M7 12.5l3.4 3.4L17 9")
                case .warn, .bad: ("bad", "M12 6.5v6.5M12 16.8v.2")
                case .calm: ("calm", "M9.5 8v8M14.5 8v8")
                }
            return """
                <section class="verdict \(kind)" aria-labelledby="verdict">
                <svg viewBox="0 0 24 24" aria-hidden="true"><circle cx="12" cy="12" r="12"/><path d="\(mark)"/></svg>
                <div><h1 id="verdict">\(title)</h1>
                \(body)</div>
                </section>
                """
        }
    }

    var verdict: Verdict {
        if let problems = status.shownProblems, !problems.isEmpty {
            let stale = Problem.Kind.stale.runbook
            let more: HTML =
                status.isStalenessPartOfAnother
                ? "\n<p><a href=\"help/runbooks/\(stale)\">Runbook of stale polls</a></p>" : ""
            return Verdict(
                title: status.headline ?? "Degraded",
                tone: .bad,
                body: """
                    \(status.notice.map { "<p>\($0).</p>\n" as HTML } ?? "")\
                    <ul>\(problems.map { "<li>\(html(of: $0, isTitle: problems.count == 1 && $0.title == status.headline))</li>" as HTML })</ul>\
                    \(more)
                    """
            )
        }
        if status.identity == nil, status.accounts == nil {
            let body: HTML =
                "<p>No identity is signed in, so nothing is polled. <code>starwatch identity set DID</code> signs in.</p>"
            return Verdict(title: "Signed out", tone: .calm, body: body)
        }
        if status.polls.isEmpty && status.digests.isEmpty {
            let body: HTML =
                "<p>The configuration has no polls, so the agent sends no requests. <a href=\"help#settings\">How to add one</a></p>"
            return Verdict(title: "Nothing to do", tone: .calm, body: body)
        }
        if let notice = status.notice {
            return Verdict(title: notice, tone: .calm, body: "<p>All is well. \(summary)</p>")
        }
        return Verdict(title: "All is well", tone: .good, body: "<p>\(summary)</p>")
    }

    /// The state of a healthy agent in a few sentences.
    private var summary: HTML {
        let states = status.polls.map { status.state(of: $0, $1) }
        let (new, fresh) = (states.count { $0 == .new }, states.count { $0 == .fresh })
        let others = states.count - new - fresh
        var sentences: [String] = []
        switch status.accounts?.active {
        case nil: break
        case 1: sentences.append("The agent works for one account.")
        case let active?: sentences.append("The agent works for \(active) accounts.")
        }
        if fresh > 0 {
            switch status.polls.count {
            case 1: sentences.append("The poll is fresh.")
            case 2 where fresh == 2: sentences.append("Both polls are fresh.")
            case fresh: sentences.append("All \(fresh) polls are fresh.")
            default: sentences.append("\(fresh) of \(status.polls.count) polls are fresh.")
            }
        }
        if new > 0 {
            sentences.append(new == 1 ? "One poll has not succeeded yet." : "\(new) polls have not succeeded yet.")
        }
        if others > 0 {
            sentences.append(others == 1 ? "One poll does not run now." : "\(others) polls do not run now.")
        }
        switch status.outbox.pending + status.outbox.claimed {
        case 0: sentences.append("Nothing waits to be delivered.")
        case 1: sentences.append("One change waits to be delivered.")
        case let waiting: sentences.append("\(waiting) changes wait to be delivered.")
        }
        if let left = throttleSecondsLeft {
            sentences.append("No request is sent for another \(AgeText.duration(left)).")
        }
        return "\(sentences.joined(separator: " "))"
    }

    /// The rest of the wait before the next request; `nil` if there is no wait.
    var throttleSecondsLeft: Double? {
        guard let past = times.secondsSince(status.server.throttledUntil), past < 0 else { return nil }
        return -past
    }

    /// A problem with its start, its meaning or the poll's own error, and its next command.
    ///
    /// - Parameter isTitle: Whether the page's title says it already.
    private func html(of problem: AgentStatus.Problem, isTitle: Bool) -> HTML {
        let kind = Problem.Kind(rawValue: problem.problem)
        // The title of a sink that is down has its age.
        let since = kind == .sinkUnreachable ? nil : problem.since.map { times.timeAndDuration($0) }
        let head: HTML =
            if isTitle { since.map { "<b>Since \($0).</b> " } ?? "" } else {
                "<b>\(problem.title)\(since.map { " since \($0)" as HTML } ?? "").</b> "
            }
        let error = kind?.topic == .poll ? problem.subject.flatMap { status.polls[$0]?.lastError } : nil
        let why: HTML = (problem.detail ?? error).map { "\($0) " } ?? ""
        // The error of a poll that fails says what to do.
        let meaning: HTML = kind == .failing && error != nil ? "" : "\(HTML(codeIn: problem.meaning)) "
        let command: HTML = problem.command.map { "Next: <code>\($0)</code> " } ?? ""
        let runbook: HTML = problem.runbook.map { "<a href=\"help/runbooks/\($0)\">Runbook</a>" } ?? ""
        return "\(head)\(why)\(meaning)\(command)\(runbook)"
    }
}
