import Foundation
import Testing

/// `Tests/Requirements.md` names every requirement once, and only tests that there are.
@Suite struct RequirementsTests {
    /// Number of requirements in each group, in document order.
    static let groups = [
        ("NOT", 25), ("SCH", 36), ("DUAL", 12), ("EVT", 8), ("API", 15), ("IDN", 14), ("POLL", 36),
        ("REQ", 22), ("EP", 31), ("VAL", 13), ("RTY", 18), ("IDM", 6), ("WM", 14), ("OUT", 16), ("PRS", 8),
        ("STO", 24), ("CLK", 7), ("TEL", 24), ("LOG", 12), ("SEC", 11), ("PRF", 7), ("TST", 14), ("ACC", 13),
        ("DOC", 15), ("CARD", 6),
    ]

    /// The beginning of the remark of a row that never has a test.
    static let notApplicable = "does not apply: "
    /// The beginning of the remark of a row that is not built, or only in part; tests show the part.
    static let notBuilt = "not built yet: "

    /// A line of a table.
    struct Row {
        let id: String
        let what: String
        /// `Suite.function`; empty where nothing shows it.
        let tests: [String]
        let remark: String

        /// `nil` unless the line is a row of a requirement.
        init?(_ line: Substring) throws {
            guard line.hasPrefix("| R-") else { return nil }
            let cells = line.split(separator: "|", omittingEmptySubsequences: false)
                .map { $0.trimmingCharacters(in: .whitespaces) }
            try #require(cells.count == 6 && cells[5].isEmpty, "not four cells: \(line)")
            (id, what, remark) = (cells[1], cells[2], cells[4])
            guard cells[3] != "–" else {
                tests = []
                return
            }
            tests = try cells[3].components(separatedBy: ", ").map { cell in
                let name = try #require(cell.wholeMatch(of: /`([A-Za-z0-9]+\.[A-Za-z0-9]+)`/), "no test: \(cell)")
                return String(name.1)
            }
        }
    }

    @Test func everyRequirementIsThereOnceAndInItsOrder() throws {
        let expected = Self.groups.flatMap { group, count in
            (1...count).map { "R-\(group)-\($0 < 10 ? "0" : "")\($0)" }
        }
        #expect(try Self.rows().map(\.id) == expected)
    }

    @Test func everyTestThatIsNamedExists() throws {
        let tests = try Self.tests()
        for row in try Self.rows() {
            for name in row.tests where !tests.contains(name) { Issue.record("\(row.id) names \(name)") }
            #expect(Set(row.tests).count == row.tests.count, "\(row.id) names a test twice")
        }
    }

    /// A reader of the code has no specification. The tests that show a requirement name it.
    @Test func noSourceNamesARequirement() throws {
        for file in LayeringTests.swiftFiles(below: LayeringTests.sources) {
            let text = try String(contentsOf: file, encoding: .utf8)
            let id = text.firstMatch(of: /\b(R-[A-Z]+-\d+|C-\d{3})\b/)?.output.1
            #expect(id == nil, "\(file.lastPathComponent) names \(id ?? "")")
        }
    }

    @Test func whatNoTestShowsSaysWhy() throws {
        for row in try Self.rows() {
            let reason = [Self.notApplicable, Self.notBuilt].first { row.remark.hasPrefix($0) }
            let isShown = reason.map { row.remark.count > $0.count } ?? !row.tests.isEmpty
            #expect(isShown, "\(row.id): a test, or the reason why there is none")
            #expect(reason != Self.notApplicable || row.tests.isEmpty, "\(row.id): a test of what does not apply")
        }
    }

    @Test func whatIsWantedIsSaidInTwelveWords() throws {
        for row in try Self.rows() { #expect((1...12).contains(row.what.split(separator: " ").count), "\(row.id)") }
    }

    private static let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()

    private static func rows() throws -> [Row] {
        try String(contentsOf: folder.appending(path: "Requirements.md"), encoding: .utf8)
            .split(separator: "\n").compactMap { try Row($0) }
    }

    /// `Suite.function` of every test in a type or extension at the beginning of a line; suites of the same name in
    /// several targets are taken together.
    private static func tests() throws -> Set<String> {
        let type = /^(?:@Suite(?:\(.*\))? )?(?:final )?(?:struct|class|enum|actor|extension) ([A-Za-z0-9]+)/
        let function = /\bfunc ([A-Za-z0-9]+)\(/
        let all = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)
        let files = (all?.allObjects as? [URL] ?? []).filter { $0.pathExtension == "swift" }
        var names: Set<String> = []
        for file in files {
            var suite: Substring?
            // The attribute may stand some lines above its function.
            var isTest = false
            for line in try String(contentsOf: file, encoding: .utf8).split(separator: "\n") {
                if let match = line.firstMatch(of: type) { suite = match.1 }
                if line == "}" { suite = nil }
                if line.contains("@Test") { isTest = true }
                guard let match = line.firstMatch(of: function) else { continue }
                if let suite, isTest { names.insert("\(suite).\(match.1)") }
                isTest = false
            }
        }
        return names
    }
}
