import ArgumentParser
import Starwatch

struct SchemaCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "schema",
        abstract: "Print the SQL of the database, for a host that owns it.",
        discussion: "With storage.owner host the agent never migrates; give this to sqlite3 or run it yourself."
    )

    @Option(help: ArgumentHelp("What PRAGMA user_version says now; 0 makes everything.", valueName: "version"))
    var from = 0

    func run() throws {
        guard let statements = HostDatabase.statements(from: from) else {
            throw ValidationError("The schema has versions up to \(HostDatabase.versions.upperBound).")
        }
        print(statements, terminator: "")
    }
}
