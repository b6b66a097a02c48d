import Foundation
import Testing

/// The statements of the store are in words that SQLite and PostgreSQL know, except a few that are listed.
///
/// Three fragments differ by engine and are no words of this list: a list of values (`json_each`), a hint for the planner
/// (`+state`, `CROSS JOIN`), and a lock.
@Suite struct StatementWordTests {
    /// Words that only SQLite knows, or that mean something else elsewhere.
    private static var foreign: [(word: String, pattern: Regex<Substring>)] {
        [
            ("iif", /\biif\(/), ("instr", /\binstr\(/), ("INSERT OR", /\bINSERT OR\b/),
            ("REPLACE INTO", /\bREPLACE INTO\b/),
            ("IS value", /\bIS (?:NOT )?(?!NOT\b|NULL\b)\S/), ("ON CONFLICT DO UPDATE", /\bON CONFLICT DO UPDATE\b/),
            ("last_insert_rowid", /last_insert_rowid/), ("rowid", /\browid\b/), ("GLOB", /\bGLOB\b/),
            ("LIKE", /\bLIKE\b/),
            ("scalar max or min", /\b(?:max|min)\([^()]*,/), ("group_concat", /\bgroup_concat\(/),
            ("JSON", /\bjson_(?!each\b|valid\b)\w+\(/), ("sqlite_sequence", /\bsqlite_sequence\b/),
            ("NOT INDEXED", /\bNOT INDEXED\b/), ("PRAGMA", /\bPRAGMA\b/), ("zeroblob", /\bzeroblob\(/),
        ]
    }

    /// What is left, by file and word, with the reason.
    private static let left: [String: String] = [
        "FormerState.swift group_concat": "The names of sinks are joined within one INSERT … SELECT.",
        "OutboxRow.swift group_concat": "The names of sinks are a column of the list.",
        "FeatureNotice.swift JSON": "A host program's preferences are searched once, when a feature is introduced.",
        "StoreStars.swift JSON": "A host program's other preferences keep their text.",
        "AccountRows.swift JSON": "A host program's other preferences keep their text.",
        "StoreAcknowledgements.swift JSON": "A batch is halved within one UPDATE.",
        "StoreStories+Runs.swift sqlite_sequence": "Tells a deleted row from one that never was.",
        "IdentityRows.swift sqlite_sequence": "Knows the greatest row of a feed, also of an erased one.",
        "StoreFeed.swift sqlite_sequence": "Numbers a row of a feed, so that its id is not less than its sequence.",
        "OutboxRows+Pages.swift sqlite_sequence": "Numbers the requests of a page before they are stored.",
        "StoreStatus.swift NOT INDEXED": "A hint for the planner.",
        "StoreKeys+Encryption.swift PRAGMA": "The file of SQLite.",
        "StoreKeys+Encryption.swift zeroblob": "The file of SQLite is encrypted where it is.",
    ]

    @Test func statementsAreInWordsThatBothEnginesKnow() throws {
        var found: Set<String> = []
        var count = 0
        // What opens, checks and migrates a file is SQLite's alone.
        let others = ["/Schema/", "/Database/", "/Store/", "/Session/Sealing.swift", "/Session/Session.swift"]
        let files = LayeringTests.swiftFiles(below: LayeringTests.sources.appending(path: "StarwatchStore"))
        for file in files where !others.contains(where: { file.path.contains($0) }) {
            for statement in Self.statements(in: try String(contentsOf: file, encoding: .utf8)) {
                count += 1
                for word in Self.foreignWords(in: statement) { found.insert("\(file.lastPathComponent) \(word)") }
            }
        }
        // Otherwise the reader of the sources has become blind.
        #expect(count > 200)
        #expect(found.subtracting(Self.left.keys).sorted() == [], "Use words that both engines know.")
        #expect(Set(Self.left.keys).subtracting(found).sorted() == [], "These are gone; take them off the list.")
    }

    /// Everything else goes through a `Session`, so that its engine can be another one.
    @Test func onlyWhatOpensAFileNamesItsEngine() throws {
        let folder = LayeringTests.sources.appending(path: "StarwatchStore")
        let files = try LayeringTests.swiftFiles(below: folder).filter {
            try String(contentsOf: $0, encoding: .utf8).contains(/(?m)^(?:package )?import GRDB(?:SQLite)?$/)
        }
        let names = files.map { $0.path.dropFirst(folder.path.count + 1) }.sorted()
        #expect(
            names == [
                "Database/DatabaseFile+Copy.swift", "Database/SQLRow.swift",
                "Database/SQLite.swift", "Journal/StoredRecord.swift", "Schema/Schema.swift",
                "Schema/UpgradeCopy.swift", "Session/Sealing.swift", "Session/Session.swift",
                "Store/PageCheck.swift", "Store/Store.swift", "Store/StoreOptions+Opening.swift",
            ]
        )
    }

    @Test(arguments: [
        (#""SELECT iif(a, b, c) FROM t""#, "iif"), (#""SELECT a IS b FROM t""#, "IS value"),
        (#""SELECT a FROM t WHERE b IS NOT 'c'""#, "IS value"), (#""SELECT a FROM t WHERE b IS NOT NULL""#, nil),
        (#""UPDATE t SET a = max(a, ?)""#, "scalar max or min"), (#""SELECT max(a), min(b) FROM t""#, nil),
        ("\"\"\"\nDELETE FROM t\nWHERE instr(?, a) = 0\n\"\"\"", "instr"), (#""what is in the list""#, nil),
        (#""INSERT INTO t (a) VALUES (?) ON CONFLICT (a) DO UPDATE SET a = 1""#, nil), ("max(0, count)", nil),
    ])
    func foreignWordsAreFoundInStatementsOnly(_ source: String, _ word: String?) {
        #expect(Self.statements(in: source).flatMap(Self.foreignWords) == (word.map { [$0] } ?? []))
    }

    private static func foreignWords(in statement: String) -> [String] {
        foreign.filter { statement.contains($0.pattern) }.map(\.word)
    }

    /// The literals of a source that are statements or parts of one.
    private static func statements(in source: String) -> [String] {
        let code = source.replacing(/(?m)\/\/.*$/, with: "")
        let long = code.matches(of: /"""([\s\S]*?)"""/).map { String($0.1) }
        let short = code.replacing(/"""[\s\S]*?"""/, with: "").matches(of: /"((?:\\.|[^"\\\n])*)"/).map { String($0.1) }
        return (long + short).filter { $0.contains(/\b(?:SELECT|INSERT|UPDATE|DELETE|WHERE|AND|IS|PRAGMA|SET)\b|=/) }
    }
}
