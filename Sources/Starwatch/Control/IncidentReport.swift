/// The events of some time, from the black box, the journal and the stored log.
package struct IncidentReport: Sendable, Codable, Hashable {
    package struct Source: Sendable, Codable, Hashable {
        package enum Name: String, Sendable, Codable, CaseIterable {
            case blackBox = "black_box"
            case database
        }

        package var name: Name
        package var read: Bool
        /// The reason why it was not read, or what is missing in it.
        package var problem: String?
    }

    /// The end of a run.
    package struct Restart: Sendable, Codable, Hashable {
        package var at: String
        package var startedAt: String
        package var cause: String
        /// The cause in words, after "It".
        package var phrase: String
        package var askedFor: Bool
    }

    package struct Problem: Sendable, Codable, Hashable {
        package var problem: String
        /// The poll, sink or port.
        package var subject: String?
        package var since: String
    }

    package struct Entry: Sendable, Codable, Hashable {
        package enum Source: String, Sendable, Codable, CaseIterable {
            case blackBox = "black_box"
            case journal
            case log
        }

        package var at: String
        package var source: Source
        /// `INFO`, `WARN` or `ERROR` of a line.
        package var level: String?
        package var event: String
        package var text: String
    }

    /// The version of the agent's last start, or of this program.
    package var version: String
    package var since: String
    package var until: String
    package var running: Bool
    package var sources: [Source]
    /// The ends of runs in this time, the oldest first.
    package var restarts: [Restart]
    /// The problems at the end of the time.
    package var problems: [Problem]
    package var entries: [Entry]
}
