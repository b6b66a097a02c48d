import Foundation
import ProgramTestKit
import Testing

@testable import StarwatchTelemetry

@Suite struct TerminalColourTests {
    private static let entry = LogEntry(
        timestampMilliseconds: 1_767_225_600_000,
        severity: .warn,
        event: "poll.failed",
        runID: "run_1",
        counts: [("change_count", .integer(3))],
        error: #"It said "a=b c" \ twice."#,
        metadata: [("poll", .string("starred")), ("b", .array([.string("x y=z")]))]
    )

    private func painted(_ entry: LogEntry) -> String {
        text(TerminalColour.painted(entry.textLine(), entry.severity))
    }

    private func stripped(_ line: String) -> String { line.replacing(/\u{1B}\[[0-9;]*m/, with: "") }

    @Test func timeAndNamesAreDimTheEventIsBoldAndTheLevelHasAColour() {
        let dim = "\u{1B}[2m"
        let end = "\u{1B}[0m"
        #expect(
            painted(Self.entry)
                == "\(dim)2026-01-01T00:00:00.000Z\(end) \u{1B}[33mWARN  \(end)\u{1B}[1mpoll.failed\(end)              "
                + "\(dim)poll=\(end)starred \(dim)b=\(end)[\"x y=z\"] \(dim)change_count=\(end)3 "
                + #"\#(dim)error=\#(end)"It said \"a=b c\" \\ twice." "# + "\(dim)run_id=\(end)run_1\n"
        )
    }

    @Test(arguments: LogSeverity.allCases)
    func colouringOnlyAddsEscapeSequences(severity: LogSeverity) {
        var entry = Self.entry
        entry.severity = severity
        #expect(stripped(painted(entry)) == text(entry.textLine()))
        entry.event = "a sentence of a library"
        entry.metadata = []
        #expect(stripped(painted(entry)) == text(entry.textLine()))
    }

    @Test func everyLineEndsWithoutColour() {
        var random = SplitMix(state: 6)
        let pieces = ["=", "\"", "\\", " ", "a", "\n", "é", "[REDACTED:did]", "x=\"", "\\\""]
        for _ in 0..<2000 {
            // The columns before the event are never escaped.
            let head = "2026-01-01T00:00:00.000Z INFO  "
            let line =
                head
                + (0..<Int.random(in: 0...60, using: &random)).map { _ in pieces.randomElement(using: &random)! }
                .joined()
            let painted = text(TerminalColour.painted(Array(line.utf8), .info))
            #expect(stripped(painted) == line)
            #expect(painted.matches(of: /\u{1B}\[[1-9]/).count == painted.matches(of: /\u{1B}\[0m/).count)
        }
    }

    @Test func colourNeedsACapableTerminalWithoutNoColor() {
        let terminal = ["TERM": "xterm-256color"]
        #expect(TerminalColour.isWanted(isTerminal: true, environment: terminal))
        #expect(!TerminalColour.isWanted(isTerminal: false, environment: terminal))
        #expect(!TerminalColour.isWanted(isTerminal: true, environment: [:]))
        #expect(!TerminalColour.isWanted(isTerminal: true, environment: ["TERM": ""]))
        #expect(!TerminalColour.isWanted(isTerminal: true, environment: ["TERM": "dumb"]))
        #expect(!TerminalColour.isWanted(isTerminal: true, environment: ["TERM": "xterm", "NO_COLOR": "1"]))
        // An empty value counts as unset (no-color.org).
        #expect(TerminalColour.isWanted(isTerminal: true, environment: ["TERM": "xterm", "NO_COLOR": ""]))
    }

    @Test(arguments: [true, false], LogFormat.allCases)
    func writerColoursTextAndNeverJSON(hasColour: Bool, format: LogFormat) throws {
        let pipe = Pipe.make()
        let writer = DescriptorWriter(
            descriptor: pipe.fileHandleForWriting.fileDescriptor,
            format: format,
            hasColour: hasColour
        )
        let line = format == .json ? Self.entry.jsonLine() : Self.entry.textLine()
        writer.take(LogEntry(timestampMilliseconds: 0, severity: .warn, event: ""), line: line)
        try pipe.fileHandleForWriting.close()
        let written = Array(try #require(try pipe.fileHandleForReading.readToEnd()))
        #expect((written != line) == (hasColour && format == .text))
        #expect(stripped(text(written)) == text(line))
    }

    @Test func fieldsOfAllEventsAlign() {
        for event in ["notification", "acknowledge.store_failed"] {
            let entry = LogEntry(timestampMilliseconds: 0, severity: .info, event: event, error: "x")
            let line = text(entry.textLine())
            #expect(line.distance(from: line.startIndex, to: line.firstRange(of: "error=")!.lowerBound) == 56)
        }
    }
}
