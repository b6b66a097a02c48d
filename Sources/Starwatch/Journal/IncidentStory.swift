package import StarwatchCore
package import StarwatchStore
import StarwatchTelemetry

/// Tells what happened as one story, in the order of time. What several sources know is told once.
package struct IncidentStory: Sendable {
    /// The black box; `nil` if it cannot be read.
    package var box: BlackBox.Content?
    /// The journal and the stored log; `nil` if the database cannot be read.
    package var record: StoredRecord?
    package var sources: [IncidentReport.Source] = []
    package var isRunning = false
    /// Whether the running agent answers; `nil` if it was not asked.
    package var answers: Bool?
    /// The problems that the running agent has now; `nil` if it did not answer.
    package var present: [IncidentReport.OpenProblem]?
    /// The facts about the machine now, which tell how the last run of an agent that does not run ended.
    package var machine = RunStart(boot: "")
    /// The version of this program.
    package var version: String

    package init(version: String) { self.version = version }

    /// Two reports of one event can differ by this in their times.
    private static let tolerance = Duration.seconds(1)
    /// The age of the last sign of life at which a running agent seems to be stopped. It gives one each half minute.
    private static let patience = Duration.seconds(120)

    private typealias Line = (at: Timestamp, source: IncidentReport.Entry.Source, logged: LoggedLine)

    /// The time of the newest record; `nil` if there is none.
    package var newest: Timestamp? {
        let times = [box?.lines.last?.at, box?.marks.last?.at, record?.journal.last?.at, record?.lines.last?.at]
        return times.compactMap { $0 }.max()
    }

    package func report(since: Timestamp, until: Timestamp) -> IncidentReport {
        let lines = unfolded(
            lines { at, level, _ in
                at >= since && at <= until && level.map { $0 == .warn || $0 == .error } ?? true
            }
        )
        let ends = RunEnd.ends(
            box?.marks ?? [],
            before: isRunning ? nil : (machine.looking(at: box ?? BlackBox.Content()), nil)
        )
        .filter { $0.at >= since && $0.at <= until }
        let journal = (record?.journal ?? []).filter { $0.at >= since && $0.at <= until }
        // An end comes before the start that shows it.
        let entries =
            ends.filter { !isTold($0, by: lines) }.map(Self.entry)
            + lines.filter { !isTold($0, by: ends) }.map(Self.entry)
            + journal.filter { !isTold($0, by: lines, ends) }.map(Self.entry)
        let sorted = entries.enumerated().sorted { ($0.element.at, $0.offset) < ($1.element.at, $1.offset) }
        return IncidentReport(
            version: lines.last { $0.logged.event == AgentEvent.agentStarted.name }?.logged["version"] ?? version,
            since: since.iso8601,
            until: until.iso8601,
            running: isRunning,
            answers: answers,
            lastSign: isSilent(until) ? box?.lastSign?.iso8601 : nil,
            sources: sources,
            restarts: ends.map(IncidentReport.Restart.init),
            problems: present ?? problems(until),
            entries: sorted.map(\.element.entry)
        )
    }

    /// Whether the agent runs and does not answer. If it was not asked, the age of its last sign of life tells.
    private func isSilent(_ now: Timestamp) -> Bool {
        guard isRunning else { return false }
        if let answers { return !answers }
        return box?.lastSign.map { now - $0 > Self.patience } ?? false
    }

    private typealias TimedEntry = (at: Timestamp, entry: IncidentReport.Entry)

    private static func entry(_ end: RunEnd) -> TimedEntry {
        let text = "The run that began \(end.startedAt.iso8601) \(end.account)."
        let event = "run.\(end.cause.rawValue)"
        return (end.at, .init(at: end.at.iso8601, source: .blackBox, event: event, text: text))
    }

    private static func entry(_ line: Line) -> TimedEntry {
        let entry = IncidentReport.Entry(
            at: line.at.iso8601,
            source: line.source,
            level: line.logged.level,
            event: line.logged.event,
            text: text(of: line.logged)
        )
        return (line.at, entry)
    }

    private static func entry(_ entry: JournalEntry) -> TimedEntry {
        let words = [entry.actor, entry.verb, entry.target, entry.detail].compactMap { $0 }
        let event = entry.kind == .runEnd ? "run.\(entry.result)" : "\(entry.kind.rawValue).\(entry.result)"
        return (
            entry.at,
            .init(at: entry.at.iso8601, source: .journal, event: event, text: words.joined(separator: " "))
        )
    }

    /// The wanted lines of both logs in the order of time, each once.
    ///
    /// - Parameter isWanted: Decides by the time, the level and the text of a line. The lines of the black box have no level.
    private func lines(_ isWanted: (Timestamp, LogLevel?, String) -> Bool) -> [Line] {
        let boxed = (box?.lines ?? []).filter { isWanted($0.at, nil, $0.text) }
        let known = Set(boxed.map(\.text))
        let stored = (record?.lines ?? []).filter { isWanted($0.at, $0.level, $0.line) && !known.contains($0.line) }
        let all: [Line] =
            boxed.map { (at: $0.at, source: .blackBox, logged: LoggedLine($0.text)) }
            + stored.map { (at: $0.at, source: .log, logged: LoggedLine($0.line)) }
        return all.enumerated().sorted { ($0.element.at, $0.offset) < ($1.element.at, $1.offset) }.map(\.element)
    }

    /// Leaves out the counts of the black box for repetitions that the stored log tells one by one.
    private func unfolded(_ lines: [Line]) -> [Line] {
        let period = Duration.milliseconds(LogFolder.Reader.blackBox.windowMilliseconds)
        return lines.filter { line in
            guard line.source == .blackBox, line.logged["suppressed"] != nil else { return true }
            return !lines.contains {
                $0.source == .log && $0.logged.event == line.logged.event && $0.logged.subject == line.logged.subject
                    && $0.at > line.at - period && $0.at <= line.at
            }
        }
    }

    /// The problems that have begun and not ended, whenever that was. A start announces those that remain anew.
    private func problems(_ until: Timestamp) -> [IncidentReport.OpenProblem] {
        let events = [AgentEvent.problemBegan, .problemEnded].map(\.name)
        let lines = lines { at, _, text in at <= until && events.contains { text.contains($0) } }
        let start = (box?.marks ?? []).last { $0.kind == .start && $0.at <= until }?.at
        var open: [IncidentReport.OpenProblem] = []
        for line in lines where start.map({ line.at >= $0 }) ?? true {
            guard let problem = line.logged["problem"] else { continue }
            let subject = line.logged.subject
            switch line.logged.event {
            case AgentEvent.problemBegan.name:
                open.append(.init(problem: problem, subject: subject, since: line.logged["since"] ?? line.at.iso8601))
            case AgentEvent.problemEnded.name: open.removeAll { $0.problem == problem && $0.subject == subject }
            default: break
            }
        }
        return open
    }

    /// Whether a line tells an end.
    private func isTold(_ end: RunEnd, by lines: [Line]) -> Bool {
        end.cause == .stopped && hasLine(of: .agentStopped, at: end.at, in: lines)
    }

    /// Whether the ends of runs tell a line.
    private func isTold(_ line: Line, by ends: [RunEnd]) -> Bool {
        line.logged.event == AgentEvent.agentRunEnded.name && !ends.isEmpty
    }

    /// Whether lines or ends of runs tell an entry of the journal.
    private func isTold(_ entry: JournalEntry, by lines: [Line], _ ends: [RunEnd]) -> Bool {
        switch entry.kind {
        case .runEnd:
            return ends.contains { $0.startedAt.iso8601 == entry.target || isNear($0.at, entry.at) }
                || hasLine(of: .agentStopped, at: entry.at, in: lines)
        case .action, .reload:
            let events: [AgentEvent] = entry.kind == .action ? [.operatorAction] : [.configReloaded, .configRefused]
            return lines.contains { line in
                events.contains { $0.name == line.logged.event } && isNear(line.at, entry.at)
                    && line.logged["actor"] == entry.actor
                    && (line.logged["verb"] ?? entry.verb) == entry.verb
            }
        }
    }

    /// The fields for a reader: what went wrong first, and of the ids only the one that `explain` takes.
    private static func text(of line: LoggedLine) -> String {
        let hidden = ["identity", "request_id", "run_id", "server_request_id"]
        let first = line.fields.filter { !hidden.contains($0.name) && $0.name != "error" }
        let last = line.fields.filter { $0.name == "run_id" }
        let error = line["error"].map { "\"\($0)\"" }
        return ((error.map { [$0] } ?? []) + (first + last).map { "\($0.name)=\($0.value)" }).joined(separator: " ")
    }

    private func hasLine(of event: AgentEvent, at time: Timestamp, in lines: [Line]) -> Bool {
        lines.contains { $0.logged.event == event.name && isNear($0.at, time) }
    }

    private func isNear(_ one: Timestamp, _ other: Timestamp) -> Bool {
        max(one, other) - min(one, other) <= Self.tolerance
    }
}

extension IncidentStory {
    /// Reads the black box and the database, each as far as it can be read. Needs no agent and writes nothing.
    ///
    /// It reads all of them: a problem can have begun long before the time that is asked for.
    package static func read(database: String, version: String) -> IncidentStory {
        var story = IncidentStory(version: version)
        story.machine = .current
        let file = BlackBox.path(besides: database)
        var box = IncidentReport.Source(name: .blackBox, read: false)
        if let found = BlackBoxFile.read(path: file) {
            story.isRunning = found.isInUse
            do throws(BlackBoxError) {
                let content = try BlackBox.read(found.bytes)
                story.box = content
                box.read = true
                if content.damaged > 0 { box.problem = "\(content.damaged) damaged records are left out." }
            } catch {
                box.problem = error.sentence
            }
        } else {
            box.problem = "It cannot be read; check its owner, or whether an agent has run with this database."
        }
        var source = IncidentReport.Source(name: .database, read: false)
        do throws(StoreError) {
            story.record = try StoredRecord.read(path: database, since: Timestamp(milliseconds: 0))
            source.read = true
        } catch {
            source.problem = error.forReaders
        }
        story.sources = [box, source]
        return story
    }
}
