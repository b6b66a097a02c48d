import Foundation
import Testing

/// Whoever uses the library reads its documentation, and not its source.
@Suite struct PublicDocumentationTests {
    @Test func everyPublicSymbolOfThePollsIsDocumented() throws {
        let root = LayeringTests.sources.appending(path: "StarwatchPolling")
        var count = 0
        for file in LayeringTests.swiftFiles(below: root) {
            let lines = try String(contentsOf: file, encoding: .utf8).split(
                separator: "\n",
                omittingEmptySubsequences: false
            )
            for (index, line) in lines.enumerated() where line.contains(/^ *public (?!import)/) {
                count += 1
                let above = lines[..<index].last { !$0.contains(/^ *@/) } ?? ""
                #expect(above.contains(/^ *\/\/\//), "\(file.lastPathComponent):\(index + 1): \(line)")
            }
        }
        #expect(count > 80)
    }
}
