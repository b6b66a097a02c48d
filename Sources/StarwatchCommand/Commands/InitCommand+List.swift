import Foundation
import Starwatch
import StarwatchCore

/// `starwatch init --json URL`.
extension InitCommand {
    /// Returns what is wrong with the options beside `--json`, as a sentence; `nil` if they fit.
    var problemOfList: String? {
        guard json != nil else { return headersFile == nil ? nil : "--headers-file is only for --json." }
        let isOfEndorser =
            [server, dialect, did, keyFile, secretFile, tokensFile].contains { $0 != nil } || !star.isEmpty
            || !poll.isEmpty || announceLastWeek
        return isOfEndorser ? "--json takes none of the options of an Endorser server; leave them out." : nil
    }

    /// Asks the list once, and guesses its settings. On a terminal, the operator confirms them.
    func list(_ url: String, _ questions: SetupQuestions, isAsked: Bool) async throws -> SetupList {
        if let problem = ValueRules.url(url, allowsQuery: true) { throw CommandError.usage("--json \(problem)") }
        var headers: [(name: String, value: String)] = []
        if let headersFile {
            guard let content = FileManager.default.contents(atPath: headersFile) else {
                throw CommandError.usage("The file of --headers-file cannot be read; correct its path or mode.")
            }
            do throws(SecretContent.Mistake) { headers = try HeadersFile.parse(Array(content)) } catch {
                throw CommandError.usage("The file of --headers-file cannot be used; \(error.advice).")
            }
        }
        let guessed = SetupList(url: url, headersFile: headersFile, places: try await ListTrial.guess(url, headers))
        if isAsked { return try questions.askList(guessed) }
        guard guessed.places.id != nil else {
            throw CommandError.failed(
                "No member tells the items apart; run init on a terminal, and name the place of the id."
            )
        }
        return guessed
    }
}
