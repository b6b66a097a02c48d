import Starwatch

/// The result of one check of an installation.
struct Finding: Sendable, Hashable, Codable {
    enum State: String, Sendable, Codable, CaseIterable {
        case ok, warning, problem
        /// Something is missing that the check needs.
        case skipped
    }

    /// The part of the installation: `files`, or `sink hook`.
    var area: String
    var state: State
    /// One sentence. That of a problem says what to do.
    var text: String

    init(_ area: String, _ state: State, _ text: String) {
        (self.area, self.state, self.text) = (area, state, text)
    }
}

/// The output of `starwatch doctor`.
struct DoctorReport: Sendable, Encodable {
    var findings: [Finding]

    var hasProblems: Bool { findings.contains { $0.state == .problem } }

    /// One line per finding, and a summary.
    var text: String {
        let rows = findings.map { [$0.state.rawValue, $0.area, $0.text] }
        return TextTable(states: [0], rows: rows).text + "\n\n" + summary
    }

    private var summary: String {
        func count(_ state: Finding.State, _ noun: String) -> String {
            findings.count { $0.state == state }.counted(noun)
        }
        return "\(count(.problem, "problem")), \(count(.warning, "warning")), \(count(.skipped, "skipped check"))."
    }
}
