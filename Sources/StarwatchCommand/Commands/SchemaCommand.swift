import ArgumentParser
import Starwatch

struct SchemaCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        "schema",
        "Print the SQL schema, for a host that owns the database.",
        """
        With storage.owner host the agent never migrates. Run this SQL yourself or with sqlite3. Without -bail, \
        sqlite3 continues after an error. From a version before 10, sqlite3 3.42 and later also need \
        .dbconfig defensive off.
        """,
        examples: ["starwatch schema | sqlite3 -bail starwatch.db", "starwatch schema --from 9"]
    )

    @Option(help: ArgumentHelp("The current PRAGMA user_version; 0 creates everything.", valueName: "version"))
    var from = 0

    func run() throws {
        guard let statements = HostDatabase.statements(from: from) else {
            throw ValidationError("There are statements from versions 0 and 9 to \(HostDatabase.versions.upperBound).")
        }
        print(statements, terminator: "")
    }
}
