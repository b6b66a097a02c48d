import ArgumentParser
import Starwatch
import StarwatchCore

/// The item that `starwatch explain` explains.
struct ExplainArguments: ParsableArguments, OneQuestion {
    static let question = Question<ExplainArguments>(
        ControlAPI.explain,
        "explain",
        "Explain what happened to a change, and what it waits for.",
        about: """
            Prints every step with its time: fetched, stored, claimed, each answer of each sink, acknowledged, \
            watermark. Of a claim without a row, a project or a time it says what covers it: how far each poll is, and \
            why it has no row. Uses the running agent if there is one, else the database. The output names no person and no \
            project, so it can be shared.
            """,
        examples: [
            "starwatch explain 17", "starwatch explain ntf_4f1d2c9ab07e4f1d2c9ab07e4f1d2c9a",
            "starwatch explain 2026-01-01T02:13:00Z",
        ],
        taking: \.id,
        text: ExplainArguments.page
    )

    @Argument(
        help: "A claim id, chg_…, a row of outbox list, a notification (ntf_…), a run (run_…), a project, or a time."
    )
    var id: String
}

/// Stories for a person.
extension ExplainArguments {
    static func page(_ story: Story) -> String {
        var parts = [TextTable.pairs(head(story))]
        if let coverage = story.coverage { parts.append(covered(coverage)) } else { parts.append(steps(story.steps)) }
        if let rows = story.rows, !rows.isEmpty { parts.append(list(rows)) }
        if story.coverage == nil { parts.append(waits(story.waits)) }
        return parts.joined(separator: "\n\n")
    }

    private static func head(_ story: Story) -> [(name: String, value: String)] {
        let others = story.otherRows.map { " (also rows \($0.map(String.init).joined(separator: ", ")))" } ?? ""
        let pairs: [(name: String, value: String?)] = [
            (story.title, story.id), ("Row", story.row.map { "\($0)\(others)" }), ("State", story.state),
            ("Poll", story.pollNames),
            ("Identity", story.identity), ("Run", story.runID), ("Notification", story.notificationID),
            ("Notifications", story.notifications?.joined(separator: ", ")),
        ]
        return pairs.compactMap { pair in pair.value.flatMap { $0.isEmpty ? nil : (pair.name, $0) } }
    }

    private static func steps(_ steps: [Story.Step]) -> String {
        guard !steps.isEmpty else { return "No steps." }
        return TextTable(
            titles: ["TIME", "AFTER", "STEP", "DETAILS"],
            right: [1],
            rows: steps.map { [$0.at, $0.after, $0.step.rawValue, $0.details] }
        ).text
    }

    private static func covered(_ coverage: [Story.Covered]) -> String {
        coverage.map { poll in
            let name = poll.poll.map { "Poll \($0), " } ?? ""
            let text = "\(name)\(poll.reason.rawValue): \(poll.sentence)" + (poll.runs.isEmpty ? "" : " " + poll.runs)
            return TerminalText.printable(text)
        }.joined(separator: "\n")
    }

    private static func list(_ rows: [Story.Row]) -> String {
        TextTable(
            titles: ["ROW", "CHANGE", "STATE"],
            right: [0],
            rows: rows.map { ["\($0.row)", $0.id, $0.state.rawValue] }
        ).text
    }

    private static func waits(_ waits: [Story.Wait]) -> String {
        guard !waits.isEmpty else { return "It waits for nothing." }
        return waits.map { wait in
            let until = wait.until.map { " Until \($0)." } ?? ""
            return TerminalText.printable("Waits: \(wait.sentence)\(until)")
        }.joined(separator: "\n")
    }
}
