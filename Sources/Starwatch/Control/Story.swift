package import StarwatchCore

/// The life of a change, a notification or a run: `starwatch explain`.
///
/// It contains no DID, claim id, plan or name, so that it can be shared. Times are the server's, in RFC 3339 with
/// milliseconds.
package struct Story: Sendable, Codable, Hashable {
    package enum Kind: String, Sendable, Codable, CaseIterable {
        case change, notification, digest, run
        /// A claim that has no row.
        case absent
        case time, project
    }

    package var kind: Kind
    /// `chg_…`, `ntf_…` or `run_…`; the time; `project` for a project, whose id is personal.
    package var id: String
    /// The state of the row or notification, such as `delivered`, the outcome of the run, or the first reason of ``coverage``.
    package var state: String
    package var poll: String?
    /// The polls of a notification that joins what a sink held of several; ``poll`` is then that of the last one that it joins.
    package var polls: [String]?
    /// The account's pseudonym.
    package var identity: String?
    /// The outbox row of a change.
    package var row: Int64?
    /// The run that found the newest change.
    package var runID: String?
    /// The notification that announces the change.
    package var notificationID: String?
    /// The other outbox rows of the same change.
    package var otherRows: [Int64]?
    /// The rows of a notification or a run, at most 100.
    package var rows: [Row]?
    /// The notifications of a run.
    package var notifications: [String]?
    /// The steps so far in the order of time, or in that of a life if a clock was ahead.
    package var steps: [Step] = []
    /// The reasons why it is not finished; empty if it is.
    package var waits: [Wait] = []
    /// The cover of a claim that has no row, of a time or of a project: one entry for each poll; `nil` for others.
    package var coverage: [Covered]?

    /// Names of its polls, for a person.
    package var pollNames: String? { polls?.joined(separator: ", ") ?? poll }

    package init(_ kind: Kind, id: String, state: String) {
        (self.kind, self.id, self.state) = (kind, id, state)
    }

    /// A change in a story of several.
    package struct Row: Sendable, Codable, Hashable {
        package var row: Int64
        package var id: String
        package var state: OutboxState
    }

    /// One step.
    package struct Step: Sendable, Codable, Hashable {
        package enum Kind: String, Sendable, Codable, CaseIterable {
            case changed, started, fetched, stored, prepared, claimed, attempt
            case givenUp = "given_up"
            case delivered, dead, cancelled, suppressed, evicted
            case acknowledged, watermark, finished
            case released, renewed, discarded, returned, retried
        }

        package var at: TimeText
        package var step: Kind
        /// Time since the previous step; `nil` for the first, and if a clock was ahead.
        package var afterMilliseconds: Int64?
        /// Duration of the request or attempt itself.
        package var tookMilliseconds: Int64?
        package var page: Int?
        /// The number of the attempt at the sink, or the number of attempts of the request.
        package var attempt: Int?
        package var sink: String?
        /// `ok`, `rejected`, `unavailable`, `timeout` or `gone` of a sink; the outcome of a run; `http_200` or `no_answer`
        /// of the last request of a run.
        package var result: String?
        /// The reason in a word, such as `http_404`, or `unreadable`, `discarded`, `own` or `announced`.
        package var reason: String?
        /// The same as one sentence.
        package var sentence: String?
        package var requestID: String?
        /// The server's own id of the request.
        package var serverRequestID: String?
        /// The next attempt, as planned then.
        package var nextAt: TimeText?
        /// The number of changes.
        package var count: Int?
        /// The number of requests of a run, without repetitions.
        package var requests: Int?
        /// `true` for a time that is still to come, because a clock was ahead when it was stored; `nil` otherwise.
        package var clockAhead: Bool?

        package init(_ step: Kind, at: String) {
            self.step = step
            self.at = at
        }
    }

    /// The reason why a poll has no row, and how far it is.
    package struct Covered: Sendable, Codable, Hashable {
        package var poll: String?
        package var reason: Coverage.Reason
        package var sentence: String
        /// The time of the last change that the poll has fetched with all before it.
        package var fetchedUntil: TimeText?
        /// The last run by now, or by the time that is explained.
        package var runID: String?
        package var runOutcome: String?
        package var runAt: TimeText?
        /// The next run, which can bring the change.
        package var nextRun: TimeText?
        /// The item of `starwatch quarantine list`.
        package var item: Int64?

        package init(poll: String?, reason: Coverage.Reason, sentence: String) {
            (self.poll, self.reason, self.sentence) = (poll, reason, sentence)
        }
    }

    /// A reason why the change is not finished.
    package struct Wait: Sendable, Codable, Hashable {
        package var reason: ChangeWait.Reason
        package var sentence: String
        /// End of the wait, if it is known.
        package var until: TimeText?
        package var sink: String?
        /// The row in the way.
        package var row: Int64?

        package init(_ wait: ChangeWait) {
            reason = wait.reason
            sentence = wait.sentence
            until = wait.until?.iso8601
            sink = wait.sink
            row = wait.row
        }
    }
}

extension Story {
    /// The kind as a title.
    package var title: String {
        switch kind {
        case .change: "Change"
        case .notification: "Notification"
        case .digest: "Digest"
        case .run: "Run"
        case .absent: "Change without a row"
        case .time: "Time"
        case .project: "Project"
        }
    }
}

extension Story.Covered {
    /// The poll's last and next run in one line.
    package var runs: String {
        var parts: [String] = []
        if let fetchedUntil { parts.append("Last change fetched: \(fetchedUntil).") }
        if let runID, let runOutcome, let runAt { parts.append("Run \(runID): \(runOutcome) at \(runAt).") }
        if let nextRun { parts.append("Next run: \(nextRun).") }
        return parts.joined(separator: " ")
    }
}

extension Story.Step {
    /// Time since the previous step: `+12 ms`, `+3.2 s`, or the usual text of a duration; empty for the first.
    package var after: String {
        guard let afterMilliseconds else { return "" }
        let sign = afterMilliseconds < 0 ? "-" : "+"
        let size = afterMilliseconds.magnitude
        if size < 1000 { return "\(sign)\(size) ms" }
        if size < 60_000 { return "\(sign)\(size / 1000).\(size % 1000 / 100) s" }
        return sign + AgeText.duration(Double(size) / 1000)
    }

    /// The facts of the step in one line, without its time.
    package var details: String {
        var parts: [String] = []
        if let sink {
            parts.append("sink \(sink)" + (result.map { ": \($0)" } ?? ""))
            if let attempt { parts.append("attempt \(attempt)") }
        } else if let result {
            parts.append(result)
        }
        if let page { parts.append("page \(page)") }
        if sink == nil, let attempt, attempt > 1 { parts.append("\(attempt) attempts") }
        if let count { parts.append("\(count) \(count == 1 ? "change" : "changes")") }
        if let requests { parts.append("\(requests) \(requests == 1 ? "request" : "requests")") }
        if let tookMilliseconds { parts.append("took \(tookMilliseconds) ms") }
        if step == .acknowledged { parts.append(requestID == nil ? "locally" : "at the server") }
        if let requestID { parts.append("request \(requestID)") }
        if let serverRequestID, serverRequestID != requestID { parts.append("server's id \(serverRequestID)") }
        if let reason { parts.append(reason) }
        var text = parts.joined(separator: ", ")
        if let sentence { text += (text.isEmpty ? "" : ": ") + sentence }
        if let nextAt { text += " Next attempt \(nextAt)." }
        if clockAhead == true { text += (text.isEmpty ? "" : " ") + "Its clock was ahead, so the time is wrong." }
        return text
    }
}
