import Foundation
import Testing

/// Every target over its corpus and a fixed number of mutations of it: seconds, the same ones every time.
///
/// Each target gets a tenth of its mutations. The redactor gets all, because only its short run has found a fault.
/// `STARWATCH_FUZZ=all` tries all of all targets, which takes a minute.
@Suite struct ShortRunTests {
    private static let triesAll = ProcessInfo.processInfo.environment["STARWATCH_FUZZ"] == "all"

    @Test(arguments: FuzzTarget.all)
    func whatMustHoldHoldsOfTheCorpusAndOfMutationsOfIt(target: FuzzTarget) throws {
        let corpus = try target.corpus()
        #expect(!corpus.isEmpty)
        for input in corpus { try check(target, input) }
        var mutations = Mutations(seed: 1, of: corpus, words: target.words)
        let isWhole = Self.triesAll || target.name == FuzzTarget.redactor.name
        for _ in 0..<(isWhole ? target.tries : target.tries / 10) { try check(target, mutations.next()) }
    }

    @Test func everyFolderOfTheCorpusHasATarget() throws {
        let folders = try FileManager.default.contentsOfDirectory(atPath: FuzzTarget.folder.path + "/Corpus")
        #expect(folders.sorted() == FuzzTarget.all.map(\.name).sorted())
    }

    /// Each input is kept while it is tried: after a trap the file holds what did it.
    private static let trace = ProcessInfo.processInfo.environment["FUZZ_TRACE"].map { URL(filePath: $0) }

    private func check(_ target: FuzzTarget, _ input: [UInt8]) throws {
        if let trace = Self.trace { try Data(input).write(to: trace.appendingPathExtension(target.name)) }
        if let problem = target.check(input) {
            Issue.record("\(problem): \(Data(input).base64EncodedString())")
            throw CancellationError()
        }
    }
}
