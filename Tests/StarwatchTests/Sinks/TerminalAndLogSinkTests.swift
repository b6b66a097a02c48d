import Foundation
import Logging
import ProgramTestKit
import StarwatchCore
import StarwatchTelemetry
import Synchronization
import Testing

@testable import Starwatch

@Suite struct StdoutSinkTests {
    @Test func titleAndBodyAreALine() async throws {
        let folder = try TestFolder()
        let file = try FileHandle(forUpdating: URL(filePath: folder.write("", to: "terminal")))
        let sink = StdoutSink(name: "stdout", descriptor: file.fileDescriptor)
        #expect(await sink.deliver(.sample()) == .ok)
        let text = try String(contentsOfFile: folder.path("terminal"), encoding: .utf8)
        #expect(text == "Project Update: Jardin d’Été 🌻 has been updated\n")
    }

    @Test func theLinesOfSeveralPollsAreOneLine() async throws {
        let folder = try TestFolder()
        let file = try FileHandle(forUpdating: URL(filePath: folder.write("", to: "terminal")))
        let sink = StdoutSink(name: "stdout", descriptor: file.fileDescriptor)
        #expect(await sink.deliver(.sample(name: "Two updates\nAn offer")) == .ok)
        let text = try String(contentsOfFile: folder.path("terminal"), encoding: .utf8)
        #expect(text == "Project Update: Two updates; An offer has been updated\n")
    }

    @Test func controlCharactersDoNotReachTheTerminal() async throws {
        let folder = try TestFolder()
        let file = try FileHandle(forUpdating: URL(filePath: folder.write("", to: "terminal")))
        let sink = StdoutSink(name: "stdout", descriptor: file.fileDescriptor)
        let name = "a\u{1B}]0;owned\u{07}\u{1B}[2J\r\n\u{9B}31m\u{7F}\u{00}b\u{202E}c\u{2028}d"
        #expect(await sink.deliver(.sample(name: name)) == .ok)
        let text = try String(contentsOfFile: folder.path("terminal"), encoding: .utf8)
        #expect(text == "Project Update: a?]0;owned??[2J???31m??bc?d has been updated\n")
    }

    /// The journal would take the beginning of a title for a priority.
    @Test func aLineInTheJournalHasAPriorityOfItsOwn() async throws {
        let folder = try TestFolder()
        let file = try FileHandle(forUpdating: URL(filePath: folder.write("", to: "terminal")))
        var status = stat()
        try #require(fstat(file.fileDescriptor, &status) == 0)
        var sink = StdoutSink(name: "stdout", descriptor: file.fileDescriptor)
        sink.environment = ["JOURNAL_STREAM": "\(status.st_dev):\(status.st_ino)"]
        #expect(await sink.deliver(.sample()) == .ok)
        let text = try String(contentsOfFile: folder.path("terminal"), encoding: .utf8)
        #expect(text == "<6>Project Update: Jardin d’Été 🌻 has been updated\n")
        #expect(LogOptions.Level.error.marked("a", on: file.fileDescriptor, environment: sink.environment) == "<3>a")
        #expect(LogOptions.Level.error.marked("a", on: file.fileDescriptor, environment: [:]) == "a")
    }

    @Test func aReaderThatTakesNothingHoldsNobodyUp() async throws {
        let pipe = Pipe.make()
        let output = pipe.fileHandleForWriting.fileDescriptor
        _ = fcntl(output, F_SETFL, O_NONBLOCK)
        while write(output, String(repeating: "x", count: 4096), 4096) > 0 {}
        _ = fcntl(output, F_SETFL, 0)
        let sink = StdoutSink(name: "stdout", descriptor: output, patience: 0)
        let failure = SinkFailure("Standard output cannot be written to.", .output)
        #expect(await sink.deliver(.sample()) == .unavailable(failure, retryAfter: nil))
        _ = pipe.fileHandleForReading.availableData
        #expect(await sink.deliver(.sample()) == .ok)
    }

    @Test func aClosedOutputIsUnavailable() async throws {
        let file = try #require(FileHandle(forReadingAtPath: "/dev/null"))
        let result = await StdoutSink(name: "stdout", descriptor: file.fileDescriptor).deliver(.sample())
        #expect(result.answer == .unavailable, "A write to a descriptor that only reads was taken for one.")
    }
}

@Suite struct LogEntrySinkTests {
    private final class Lines: LogSink {
        private let kept = Mutex<[String]>([])

        func take(_ entry: StarwatchTelemetry.LogEntry, line: [UInt8]) {
            kept.withLock { $0.append(String(decoding: line, as: UTF8.self)) }
        }

        var all: [String] { kept.withLock { $0 } }
    }

    @Test func theEntrySaysHowManyAndNamesNobody() async throws {
        let lines = Lines()
        let pipeline = LogPipeline(format: .json, level: .notice, sinks: [lines], metrics: nil, nowMilliseconds: { 0 })
        let logger = Logger(label: "test", factory: { _ in pipeline.handler(label: "test") })
        let sink = LogEntrySink(name: "log", logger: logger)
        // Two alike are two: a notification is never folded away.
        for _ in 0..<2 { #expect(await sink.deliver(.sample("ntf_7")) == .ok) }
        pipeline.flush()

        #expect(lines.all.count == 2)
        let line = try #require(lines.all.first)
        for part in ["ntf_7", "run_1", "starred_projects", "single", #""event":"notification""#] {
            #expect(line.contains(part))
        }
        for part in ["Jardin", "updated", "Project Update"] { #expect(!line.contains(part)) }
    }

    @Test(arguments: [Logger.Level.warning, .error, .critical])
    func aNotificationIsWrittenWhateverTheLogLevel(level: Logger.Level) async {
        let lines = Lines()
        let pipeline = LogPipeline(format: .json, level: level, sinks: [lines], metrics: nil, nowMilliseconds: { 0 })
        let logger = Logger(label: "test", factory: { _ in pipeline.handler(label: "test") })
        let sink = LogEntrySink(name: "log", logger: logger)
        #expect(await sink.deliver(.sample()) == .ok)
        #expect(lines.all.count == 1)
    }

    @Test func aNotificationWhoseLineNobodyTakesIsRetried() async {
        let dropped = Atomic<UInt64>(7)
        let logger = Logger(label: "test", factory: { _ in Full { dropped.add(1, ordering: .relaxed) } })
        let sink = LogEntrySink(name: "log", logger: logger, droppedLines: { dropped.load(ordering: .relaxed) })
        #expect(await sink.deliver(.sample()).answer == .unavailable, "The notification was lost.")
    }

    /// The log of a program whose standard error nobody reads.
    private struct Full: LogHandler {
        let drop: @Sendable () -> Void
        var metadata: Logger.Metadata = [:]
        var logLevel = Logger.Level.info

        init(drop: @escaping @Sendable () -> Void) { self.drop = drop }

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) { drop() }
    }
}
