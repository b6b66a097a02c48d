import Foundation
import Testing

@testable import StarwatchCommand

/// A mistake that people make in the configuration, and all that the program says of it.
struct Mistake: Sendable, CustomTestStringConvertible {
    enum Beside: Sendable {
        case folder(String)
        case file(String, String, mode: Int)
    }

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
    @Test(arguments: Mistake.forms + Mistake.values + Mistake.web)
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

    @Test func theTableHasSixtyMistakesOrMore() {
        let names = (Mistake.forms + Mistake.values + Mistake.web).map(\.name)
        #expect(Set(names).count == names.count && names.count >= 60)
    }

    /// The secrets of the table's mistakes.
    @Test func noSecretIsRepeated() {
        let secrets = ["hunter2", "Ab3dEf", "QrStUv", "eyJhbGci", "abc.def", "1111", "user:pw", "0x0000"]
        for mistake in Mistake.forms + Mistake.values + Mistake.web {
            for line in mistake.lines { #expect(!secrets.contains { line.contains($0) }, "\(line)") }
        }
    }
}
