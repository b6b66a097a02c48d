package import StarwatchCore

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
        /// The time of the end. With `after`, the next start, or the time just after the last sign of life.
        package var at: TimeText
        /// The last sign of life, if nothing recorded the end.
        package var after: String?
        /// The next start after it, if there was one.
        package var before: String?
        package var startedAt: TimeText
        package var cause: String
        /// The cause in words, after "It".
        package var phrase: String
        package var askedFor: Bool

        init(_ end: RunEnd) {
            (at, startedAt) = (end.at.iso8601, end.startedAt.iso8601)
            (after, before) = (end.after?.iso8601, end.before?.iso8601)
            (cause, phrase, askedFor) = (end.cause.rawValue, end.phrase, end.cause.isAskedFor)
        }
    }

    /// A problem that has begun and not ended.
    package struct OpenProblem: Sendable, Codable, Hashable {
        package var problem: String
        /// The poll, sink or port.
        package var subject: String?
        package var since: TimeText

        package init(problem: String, subject: String?, since: String) {
            (self.problem, self.subject, self.since) = (problem, subject, since)
        }

        /// A problem that the agent has now.
        package init(_ present: AgentStatus.Problem) {
            self.init(problem: present.problem, subject: present.subject, since: present.since ?? "")
        }
    }

    package struct Entry: Sendable, Codable, Hashable {
        package enum Source: String, Sendable, Codable, CaseIterable {
            case blackBox = "black_box"
            case journal
            case log
        }

        package var at: TimeText
        package var source: Source
        /// `INFO`, `WARN` or `ERROR` of a line.
        package var level: String?
        package var event: String
        package var text: String
    }

    /// The version of the agent's last start, or of this program.
    package var version: String
    package var since: TimeText
    package var until: TimeText
    package var running: Bool
    /// Whether the running agent answers; missing if it was not asked.
    package var answers: Bool?
    /// The last sign of life of an agent that runs and does not answer.
    package var lastSign: String?
    package var sources: [Source]
    /// The ends of runs in this time, the oldest first.
    package var restarts: [Restart]
    /// The problems at the end of the time.
    package var problems: [OpenProblem]
    package var entries: [Entry]
}

/// A selection of the journal.
package struct JournalQuery: Sendable, Hashable {
    /// The maximum number of entries.
    package static let listLimit = 5000

    /// Only entries since this time, in RFC 3339.
    package var since: TimeText?
    /// The maximum number of entries, the newest.
    package var limit = 100

    package init() {}
}

package struct JournalRecord: Sendable, Codable, Hashable {
    /// The position, which rises with every entry.
    package var id: Int64?
    package var at: TimeText
    package var kind: JournalKind
    /// The actor: `socket:` or `command:` with a user of the machine, `port:` with a name of its web configuration or
    /// `port:token`, `signal`, `program`; `agent` for the end of a run and
    /// for an upgrade of the database.
    package var actor: String
    /// The action, as its path in the control API: `outbox.discard`.
    package var verb: String?
    /// The object, without personal data. Of a reload, the hash of the configuration; of the end of a run, its
    /// start.
    package var target: String?
    /// `ok`, the kind of the error, `refused`, or the cause of a run's end.
    package var result: String
    /// The changed settings, or a sentence.
    package var detail: String?
}

/// The entries.
package struct JournalListing: Sendable, Codable {
    package var entries: [JournalRecord]
}
