import Foundation
import StarwatchCore
import StarwatchStore
import Testing

@testable import Starwatch

@Suite("The story of an incident")
struct IncidentTests {
    private let start = Timestamp(seconds: 1_767_268_800)

    private func time(_ seconds: Int64) -> Timestamp { start + .seconds(seconds) }

    private func json(_ seconds: Int64, _ level: String, _ event: String, _ metadata: String = "{}") -> String {
        #"{"timestamp":"\#(time(seconds).iso8601)","level":"\#(level)","event":"\#(event)","metadata":\#(metadata)}"#
    }

    private func boxed(_ lines: [(Int64, String)], marks: [BlackBoxRecord] = []) -> BlackBox.Content {
        var content = BlackBox.Content()
        content.lines = lines.enumerated().map {
            BlackBoxRecord(.line, sequence: UInt64($0.offset + 1), at: time($0.element.0), $0.element.1)
        }
        content.marks = marks
        return content
    }

    private func mark(
        _ kind: BlackBoxRecord.Kind,
        _ number: UInt64,
        at seconds: Int64,
        _ text: String = ""
    ) -> BlackBoxRecord {
        BlackBoxRecord(kind, sequence: number, at: time(seconds), text)
    }

    @Test("tells what black box, journal and log know, each thing once, in the order of time")
    func merged() {
        var story = IncidentStory(version: "1.0.0")
        let began = json(10, "WARN", "problem.began", #"{"problem":"sink_unreachable","sink":"hook"}"#)
        let action = json(
            30,
            "INFO",
            "operator.action",
            #"{"actor":"socket:anna","verb":"outbox.discard","result":"ok"}"#
        )
        story.box = boxed(
            [(10, began), (30, action), (50, json(50, "INFO", "agent.started", #"{"version":"0.9"}"#))],
            marks: [mark(.start, 1, at: 50, RunStart(boot: "one").text)]
        )
        var record = StoredRecord()
        record.lines = [
            LogEntry(at: time(5), level: .warn, line: json(5, "WARN", "sink.unavailable")),
            LogEntry(at: time(10), level: .warn, line: began),
            LogEntry(at: time(11), level: .info, line: json(11, "INFO", "poll.changed")),
        ]
        record.journal = [
            JournalEntry(at: time(2), .action, by: "port:token", verb: "sinks.test", target: "hook", result: "failed"),
            JournalEntry(at: time(30), .action, by: "socket:anna", verb: "outbox.discard", result: "ok"),
        ]
        story.record = record
        story.isRunning = true
        let report = story.report(since: start, until: time(100))
        #expect(
            report.entries.map(\.event) == [
                "action.failed", "sink.unavailable", "problem.began", "operator.action", "agent.started",
            ]
        )
        #expect(report.version == "0.9")
        // The start would have announced it again.
        #expect(report.problems.isEmpty)
        #expect(report.entries[2].text == "problem=sink_unreachable sink=hook")
    }

    @Test("has the kill at its place, and the problems at the end of an agent that does not run")
    func killed() {
        var story = IncidentStory(version: "1.0.0")
        let boot = RunStart(boot: "one").text
        let stale = #"{"problem":"stale","poll":"offers","since":"\#(time(22).iso8601)"}"#
        story.machine = RunStart(boot: "one")
        story.box = boxed(
            [
                (1, json(1, "INFO", "agent.started", #"{"version":"1.0.0"}"#)),
                (20, json(20, "WARN", "agent.run_ended", #"{"cause":"killed"}"#)),
                (20, json(20, "INFO", "agent.started", #"{"version":"1.0.0"}"#)),
                (25, json(25, "WARN", "problem.began", stale)),
            ],
            marks: [mark(.start, 1, at: 1, boot), mark(.start, 2, at: 20, boot)]
        )
        let report = story.report(since: start, until: time(100))
        #expect(report.restarts.map(\.cause) == ["killed", "killed"])
        #expect(
            report.entries.filter { $0.event == "run.killed" }.map(\.at) == [
                time(20).iso8601, (time(25) + .milliseconds(1)).iso8601,
            ]
        )
        #expect(!report.entries.contains { $0.event == "agent.run_ended" })
        // The start is not the time of the kill.
        #expect(report.restarts[0].after == time(1).iso8601 && report.restarts[0].before == time(20).iso8601)
        #expect(report.restarts[1].after == time(25).iso8601 && report.restarts[1].before == nil)
        #expect(report.entries.last?.text.hasSuffix("was killed from outside, after \(time(25).iso8601).") == true)
        #expect(report.problems == [.init(problem: "stale", subject: "offers", since: time(22).iso8601)])
        // The time of the kill is not known; it comes right after the last record.
        #expect(report.entries.last?.event == "run.killed")
    }

    @Test("has no problem that has ended, though only the stored log has its beginning")
    func ended() {
        var story = IncidentStory(version: "1.0.0")
        story.isRunning = true
        story.box = boxed([(900, json(900, "INFO", "poll.runs_missed", #"{"poll":"offers"}"#))])
        let signedOut = #"{"problem":"signed_out","since":"\#(time(10).iso8601)"}"#
        let stale = #"{"problem":"stale","poll":"offers","since":"\#(time(30).iso8601)"}"#
        var record = StoredRecord()
        // An earlier version stored the end at the level of a notice.
        record.lines = [
            LogEntry(at: time(10), level: .warn, line: json(10, "WARN", "problem.began", signedOut)),
            LogEntry(at: time(20), level: .info, line: json(20, "INFO", "problem.ended", signedOut)),
            LogEntry(at: time(30), level: .warn, line: json(30, "WARN", "problem.began", stale)),
        ]
        story.record = record
        #expect(story.report(since: start, until: time(1000)).problems.map(\.problem) == ["stale"])
        // It began before the time that is shown, and is a problem in it.
        #expect(story.report(since: time(500), until: time(1000)).problems.map(\.problem) == ["stale"])
        // The start would have announced it again.
        story.box?.marks = [mark(.start, 1, at: 40, RunStart(boot: "one").text)]
        #expect(story.report(since: start, until: time(1000)).problems.isEmpty)
        // The agent knows better.
        story.present = [.init(problem: "no_token", subject: nil, since: time(50).iso8601)]
        #expect(story.report(since: start, until: time(1000)).problems.map(\.problem) == ["no_token"])
    }

    @Test("tells repetitions by the stored log, and those that the black box alone has by its count")
    func repeated() {
        var story = IncidentStory(version: "1.0.0")
        story.isRunning = true
        let hook = #"{"sink":"hook","suppressed":"599"}"#
        story.box = boxed([
            (1, json(1, "WARN", "sink.unavailable", #"{"sink":"hook"}"#)),
            (600, json(600, "WARN", "sink.unavailable", hook)),
            (600, json(600, "INFO", "poll.runs_missed", #"{"poll":"offers","suppressed":"599"}"#)),
            (2000, json(2000, "WARN", "sink.unavailable", hook)),
        ])
        var record = StoredRecord()
        record.lines = [1, 60, 120].map {
            LogEntry(at: time($0), level: .warn, line: json($0, "WARN", "sink.unavailable", #"{"sink":"hook"}"#))
        }
        story.record = record
        let entries = story.report(since: start, until: time(3000)).entries
        #expect(entries.map(\.at) == [1, 60, 120, 600, 2000].map { time($0).iso8601 })
        #expect(entries[3].event == "poll.runs_missed")
    }

    @Test("says that a running agent does not answer, or has given no sign of life for two minutes")
    func silent() {
        var story = IncidentStory(version: "1.0.0")
        story.isRunning = true
        story.box = boxed([(1, json(1, "INFO", "agent.started"))])
        story.box?.sign = time(30)
        #expect(story.report(since: start, until: time(150)).lastSign == nil)
        #expect(story.report(since: start, until: time(151)).lastSign == time(30).iso8601)
        story.answers = true
        #expect(story.report(since: start, until: time(151)).lastSign == nil)
        story.answers = false
        #expect(story.report(since: start, until: time(31)).lastSign == time(30).iso8601)
    }

    @Test("tells the end of a run once, even if black box and journal disagree about its time")
    func once() {
        var story = IncidentStory(version: "1.0.0")
        let boot = RunStart(boot: "one").text
        story.box = boxed([], marks: [mark(.start, 1, at: 1, boot), mark(.start, 2, at: 60, boot)])
        story.isRunning = true
        story.record = StoredRecord()
        story.record?.journal = [
            JournalEntry(at: time(40), .runEnd, by: "agent", target: time(1).iso8601, result: "killed")
        ]
        #expect(story.report(since: start, until: time(100)).entries.map(\.source) == [.blackBox])
    }

    @Test("is told from the black box alone if the database is damaged, and says so")
    func damaged() async throws {
        let folder = try TestFolder()
        let database = try folder.write(String(repeating: "damage", count: 4000), to: "starwatch.db")
        let box = BlackBoxRecorder(besides: database)
        box.add(.line, at: time(1), json(1, "ERROR", "storage.damaged"))
        await box.close()
        let story = IncidentStory.read(database: database, version: "1.0.0")
        #expect(story.sources.map(\.read) == [true, false])
        #expect(story.sources[1].problem?.contains("damaged") == true)
        #expect(story.report(since: start, until: time(5)).entries.map(\.event) == ["storage.damaged"])
        try FileManager.default.removeItem(atPath: database)
        #expect(IncidentStory.read(database: database, version: "1.0.0").box != nil)
    }

    @Test("reads lines of both formats alike")
    func formats() {
        let text = LoggedLine(
            #"2026-01-01T12:00:00.000Z WARN  sink.unavailable         error="It \"failed\"; retry." reason=dns sink=hook"#
        )
        let json = LoggedLine(
            #"{"timestamp":"x","level":"WARN","event":"sink.unavailable","error":"It \"failed\"; retry.","metadata":{"reason":"dns","sink":"hook"}}"#
        )
        #expect(text == json)
        #expect(LoggedLine("{broken").event == "{broken")
    }
}
