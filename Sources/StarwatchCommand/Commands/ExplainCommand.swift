import ArgumentParser
import Starwatch

struct ExplainCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        "explain",
        "Explain what happened to a change, and what it waits for.",
        """
        Prints every step with its time: fetched, stored, claimed, each answer of each sink, acknowledged, \
        watermark. Of a claim without a row, a project or a time it says what covers it: how far each poll is, and \
        why it has no row. Uses the running agent if there is one, else the database. The output names no person and no \
        project, so it can be shared.
        """,
        examples: "starwatch explain 17",
        "starwatch explain ntf_4f1d2c9ab07e4f1d2c9ab07e4f1d2c9a",
        "starwatch explain 2026-01-01T02:13:00Z"
    )

    @Argument(
        help: "A claim id, chg_…, a row of outbox list, a notification (ntf_…), a run (run_…), a project, or a time."
    )
    var id: String

    @OptionGroup var arguments: AgentArguments

    func run() async throws { try await arguments.show(ControlAPI.explain, id, StoryText.page) }
}
