import Starwatch

/// Archived stars as text for a person.
enum ArchiveText {
    static func lines(_ archive: [ArchivedStarsReport]) -> String {
        guard !archive.isEmpty else { return "No stars are archived." }
        return archive.map { entry in
            (["Archived \(entry.archivedAt):"] + entry.planIDs.map { "  " + $0 })
                .map(TerminalText.printable).joined(separator: "\n")
        }.joined(separator: "\n")
    }
}
