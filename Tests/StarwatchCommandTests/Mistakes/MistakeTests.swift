import Foundation
import StarwatchCore
import Testing

@testable import StarwatchCommand

/// A mistake that people make in the configuration, and all that the program says of it.
struct Mistake: Sendable, CustomTestStringConvertible {
    enum Beside: Sendable {
        case folder(String)
        case file(String, String, mode: Int)
    }

    /// The kinds of polls, as errors list them.
    static let kinds = PollKind.allCases.map(\.rawValue).joined(separator: ", ")

    let name: String
    let content: [UInt8]
    /// The lines, with `FOLDER` for the folder of the file.
    let lines: [String]
    /// What lies beside the file.
    let others: [Beside]

    init(_ name: String, _ text: String, _ lines: [String], with others: [Beside] = []) {
        self.init(name, bytes: Array(text.utf8), lines, with: others)
    }

    init(_ name: String, bytes: [UInt8], _ lines: [String], with others: [Beside] = []) {
        (self.name, content, self.lines, self.others) = (name, bytes, lines, others)
    }

    var testDescription: String { name }
}

@Suite struct MistakeTests {
    static let all =
        Mistake.forms + Mistake.values + Mistake.marks + Mistake.names + Mistake.limits + Mistake.web
        + Mistake.many + Mistake.bodies + Mistake.lists

    @Test(arguments: all)
    func isToldWithItsLineAndWhatToWriteInstead(_ mistake: Mistake) throws {
        let folder = try TemporaryFolder()
        for other in mistake.others {
            switch other {
            case .folder(let name):
                try FileManager.default.createDirectory(
                    atPath: folder.path + "/" + name,
                    withIntermediateDirectories: false
                )
            case .file(let name, let text, let mode): try folder.write(text, to: name, mode: mode)
            }
        }
        let file = folder.path + "/starwatch.yaml"
        try Data(mistake.content).write(to: URL(fileURLWithPath: file))
        let failure = #expect(throws: ConfigurationFailure.self) {
            try ConfigurationLoader(environment: [:], workingDirectory: folder.path).load(file: "starwatch.yaml")
        }
        let lines = failure?.lines.map { $0.replacing(folder.path, with: "FOLDER") }
        #expect(lines == mistake.lines)
        #expect(CommandError.configuration(try #require(failure)).exitCode == .usage)
    }

    @Test func theTableHas269MistakesOrMore() {
        let names = Self.all.map(\.name)
        #expect(Set(names).count == names.count && names.count >= 269)
    }

    /// A list of a section is the value of no setting.
    @Test func everySettingRejectsAValueOfAnotherKindAtItsLine() throws {
        let free: Set = ["delivery.project_names", "digests.NAME.fetch.headers"]
        // Those of sinks have indices, and a list in place of a section without default is one of its own.
        let settings = ConfigurationReference.settings.map(\.path).filter { !$0.contains("[") && !free.contains($0) }
        #expect(settings.count > 60)
        for path in settings {
            let parts = path.replacing("NAME", with: "mine").split(separator: ".").map(String.init)
            var lines = parts.enumerated().map { String(repeating: "  ", count: $0.offset) + $0.element + ":" }
            lines[lines.count - 1] += " [{a: [b]}]"
            let failure = #expect(throws: ConfigurationFailure.self, "\(path)") {
                try ConfigurationLoader(environment: [:], workingDirectory: "/nowhere")
                    .load(text: lines.joined(separator: "\n") + "\n", file: "f", directory: "/nowhere")
            }
            let problems = failure?.problems.filter { $0.path.hasPrefix(parts.joined(separator: ".")) } ?? []
            #expect(problems.contains { $0.line == parts.count }, "\(path): \(failure?.lines ?? [])")
        }
    }

    /// The secrets of the table's mistakes.
    @Test func noSecretIsRepeated() {
        let secrets = ["hunter2", "Ab3dEf", "QrStUv", "eyJhbGci", "abc.def", "1111", "user:pw", "0x0000"]
        for mistake in Self.all {
            for line in mistake.lines { #expect(!secrets.contains { line.contains($0) }, "\(line)") }
        }
    }
}
