import Foundation
import Testing

/// The built agent as systemd starts it: `$JOURNAL_STREAM` names standard error.
@Suite struct JournalPriorityTests {
    /// Starts an agent that fails at once; its second argument is the file of its log, the third whether that is the journal's.
    private static let script = """
        exec 2>"$2"
        if [ "$3" = yes ]; then JOURNAL_STREAM=$(stat -c %d:%i "$2"); else JOURNAL_STREAM=1:1; fi
        export JOURNAL_STREAM
        exec "$0" run --config "$1"
        """

    @Test(arguments: ["json", "text", "none"], [true, false])
    func everyLineOfAFailedStartIsAnError(format: String, isJournal: Bool) async throws {
        let workspace = try Workspace()
        let config = workspace.path("s.yaml")
        // A file of another format has no log.
        let yaml =
            "log: {format: \(format)}\nstorage: {path: \(workspace.path("no/such/folder/s.db"))}\n"
            + "control: {socket: \(workspace.path("s.sock"))}\nhttp: {listen: \"127.0.0.1:0\"}\n"
        try workspace.write(yaml, to: "s.yaml")
        let log = workspace.path("log")
        let arguments = [Self.script, Binary.starwatch.path, config, log, isJournal ? "yes" : "no"]
        let result = try await runToEnd(try Program.find("sh"), ["-c"] + arguments)
        #expect(result.status == 2)
        let lines = try String(contentsOfFile: log, encoding: .utf8).split(separator: "\n")
        #expect(!lines.isEmpty)
        let beginning = format == "json" ? "{\"timestamp\"" : format == "text" ? "starwatch: " : config
        for line in lines { #expect(line.hasPrefix((isJournal ? "<3>" : "") + beginning), "\(line)") }
    }
}
