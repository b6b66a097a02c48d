import Foundation
import Logging
import ProgramTestKit
import Synchronization
import Testing

@testable import StarwatchTelemetry

/// A sink that records its lines.
final class LineCollector: LogSink, Sendable {
    private let kept = Mutex<[(entry: LogEntry, line: [UInt8])]>([])

    func take(_ entry: LogEntry, line: [UInt8]) { kept.withLock { $0.append((entry, line)) } }

    var records: [(entry: LogEntry, line: [UInt8])] { kept.withLock { $0 } }
    var lines: [String] { records.map { String(decoding: $0.line, as: UTF8.self) } }
}

@Suite struct LogEntryTests {
    @Test(
        arguments: [
            (0, "1970-01-01T00:00:00.000Z"), (951_782_400_123, "2000-02-29T00:00:00.123Z"),
            (1_767_268_799_999, "2026-01-01T11:59:59.999Z"), (-1, "1969-12-31T23:59:59.999Z"),
            (253_402_300_799_999, "9999-12-31T23:59:59.999Z"), (.max, "9999-12-31T23:59:59.999Z"),
            (4_107_542_400_000, "2100-03-01T00:00:00.000Z"),
        ] as [(Int64, String)]
    )
    func timesAreRFC3339(milliseconds: Int64, expected: String) {
        var bytes: [UInt8] = []
        bytes.append(time: milliseconds)
        #expect(text(bytes) == expected)
    }

    private static let full: LogEntry = {
        var entry = LogEntry(
            timestampMilliseconds: 1_767_225_600_000,
            severity: .warn,
            event: "poll_failed",
            runID: "r",
            counts: [("change_count", .integer(3))],
            error: "time\nout",
            metadata: [("a", .bool(true)), ("b", .array([.string("x y")]))]
        )
        entry.requestID = "q"
        entry.identity = "did:hash:0123456789abcdef"
        entry.durationMilliseconds = .double(12.5)
        return entry
    }()

    @Test func jsonFieldsAreInOrder() {
        #expect(
            text(Self.full.jsonLine())
                == #"{"timestamp":"2026-01-01T00:00:00.000Z","level":"WARN","event":"poll_failed","request_id":"q","#
                + #""run_id":"r","identity":"did:hash:0123456789abcdef","change_count":3,"duration_ms":12.5,"#
                + #""error":"time\nout","metadata":{"a":true,"b":["x y"]}}"# + "\n"
        )
    }

    @Test func textFormatIsOneLine() {
        #expect(
            text(Self.full.textLine())
                == "2026-01-01T00:00:00.000Z WARN  poll_failed              "
                + #"a=true b=["x y"] change_count=3 duration_ms=12.5 error="time\nout" "#
                + "identity=did:hash:0123456789abcdef run_id=r request_id=q\n"
        )
    }

    @Test func absentFieldsAreOmitted() {
        let entry = LogEntry(timestampMilliseconds: 0, severity: .info, event: "started")
        #expect(
            text(entry.jsonLine()) == #"{"timestamp":"1970-01-01T00:00:00.000Z","level":"INFO","event":"started"}"#
                + "\n"
        )
    }

    @Test func hostileTextsStayOneLineOfJSON() throws {
        let hostile = "\u{0}\u{1}\u{1F}\u{7F}\u{80}\u{9B}31m\u{9F}\u{A0}\"\\\n\r\t/é𝄞\u{2028}"
        let entry = LogEntry(
            timestampMilliseconds: 0,
            severity: .info,
            event: hostile,
            metadata: [(hostile, .string(hostile))]
        )
        let line = entry.jsonLine()
        #expect(line.filter { $0 == 0x0A }.count == 1)
        let parsed = try #require(try JSONSerialization.jsonObject(with: Data(line)) as? [String: Any])
        #expect(parsed["event"] as? String == hostile)
        #expect((parsed["metadata"] as? [String: String]) == [hostile: hostile])
        #expect(entry.textLine().filter { $0 == 0x0A }.count == 1)
    }
}

@Suite struct LogFolderTests {
    private func entry(
        _ at: Int64,
        _ event: String = "e",
        error: String? = "x",
        severity: LogSeverity = .error
    ) -> LogEntry {
        LogEntry(timestampMilliseconds: at, severity: severity, event: event, runID: "r\(at)", error: error)
    }

    private func suppressed(_ entries: [LogEntry]) -> [String] {
        entries.map { "\($0.event) \(text($0.jsonLine()).firstMatch(of: /"suppressed":(\d+)/)?.output.1 ?? "")" }
    }

    @Test func repetitionsAreReportedWithTheNextDifferentEntry() {
        var folder = LogFolder()
        #expect(folder.take(entry(0)).isWritten)
        for at in 1...5 { #expect(!folder.take(entry(Int64(at))).isWritten) }
        let next = folder.take(entry(6, "other"))
        #expect(next.isWritten)
        #expect(suppressed(next.summaries) == ["e 5"])
        #expect(next.summaries[0].runID == nil)
        #expect(next.summaries[0].error == "x")
        #expect(folder.report(at: 7).isEmpty)
    }

    @Test func afterTheWindowTheCountIsReportedAndTheEntryWritten() {
        var folder = LogFolder()
        _ = folder.take(entry(0))
        _ = folder.take(entry(59_999))
        let again = folder.take(entry(60_000))
        #expect(again.isWritten)
        #expect(suppressed(again.summaries) == ["e 1"])
        _ = folder.take(entry(60_001))
        #expect(suppressed(folder.expire(at: 119_999)) == [])
        #expect(suppressed(folder.expire(at: 120_000)) == ["e 1"])
        #expect(folder.expire(at: 500_000).isEmpty)
    }

    @Test func theSummaryOfOneRepetitionKeepsItsIds() {
        var folder = LogFolder()
        for (at, request) in [(0, "first"), (1, "second")] {
            var one = entry(Int64(at), severity: .info)
            (one.requestID, one.durationMilliseconds) = (request, .integer(Int64(at)))
            _ = folder.take(one)
        }
        let summary = folder.report(at: 2)
        #expect(summary.map(\.runID) == ["r1"])
        #expect(summary.map(\.requestID) == ["second"])
    }

    @Test func alternatingRepetitionsAreFoldedToo() {
        var folder = LogFolder()
        let written = (0..<20).filter { folder.take(entry(Int64($0), $0.isMultiple(of: 2) ? "a" : "b")).isWritten }
        #expect(written == [0, 1])
        #expect(Set(suppressed(folder.report(at: 20))) == ["a 9", "b 9"])
    }

    @Test func otherErrorsAndLevelsAreNotRepetitions() {
        var folder = LogFolder()
        #expect(folder.take(entry(0)).isWritten)
        #expect(folder.take(entry(0, error: "y")).isWritten)
        #expect(folder.take(entry(0, severity: .warn)).isWritten)
    }

    /// Otherwise only the first of many failures would say what the failure was.
    @Test func repetitionsKeepTheReasonAndTheOutcomeThatTheyShare() {
        var folder = LogFolder()
        for (reason, id) in [("http_500", "a"), ("http_500", "b"), ("http_500", "c")] {
            var entry = entry(0, severity: .warn)
            entry.metadata = [
                ("outcome", .string("failed")), ("reason", .string(reason)), ("notification_id", .string(id)),
                ("server_error", .string(String(repeating: "x", count: 100))), ("poll", .string("news")),
            ]
            _ = folder.take(entry)
        }
        #expect(
            folder.report(at: 1).map { text($0.jsonLine()) }.first?.contains(
                #""suppressed":2,"error":"x","metadata":{"outcome":"failed","reason":"http_500","poll":"news"}}"#
            ) == true
        )
    }

    @Test func aReasonThatOneRepetitionDoesNotShareIsLeftOut() {
        var folder = LogFolder()
        for reason in ["http_500", "http_500", "http_503"] {
            var entry = entry(0, severity: .warn)
            entry.metadata = [("outcome", .string("failed")), ("reason", .string(reason))]
            _ = folder.take(entry)
        }
        let line = folder.report(at: 1).map { text($0.jsonLine()) }.first
        #expect(line?.contains(#""metadata":{"outcome":"failed"}}"#) == true)
    }

    @Test(arguments: ["poll", "sink", "path", "problem", "logger"])
    func failureOfAnotherSubjectIsNotARepetition(subject: String) {
        var folder = LogFolder()
        for name in ["a", "b", "a", "b", "b"] {
            var entry = entry(0, severity: .warn)
            entry.metadata = [("attempt", .string(UUID().uuidString)), (subject, .string(name))]
            _ = folder.take(entry)
        }
        let summaries = folder.report(at: 1).map { text($0.jsonLine()) }.sorted()
        #expect(summaries.count == 2)
        #expect(summaries.first?.contains(#""suppressed":1,"error":"x","metadata":{"\#(subject)":"a"}}"#) == true)
        #expect(summaries.last?.contains(#""suppressed":2,"error":"x","metadata":{"\#(subject)":"b"}}"#) == true)
    }

    @Test func infoEntriesFoldOnlyWithEqualDetails() {
        var folder = LogFolder()
        var a = entry(0, severity: .info)
        a.metadata = [("poll", .string("a"))]
        var b = a
        b.metadata = [("poll", .string("b"))]
        #expect(folder.take(a).isWritten)
        #expect(folder.take(b).isWritten)
        a.runID = "another"
        #expect(!folder.take(a).isWritten)
    }

    @Test func unfoldableEntriesAreAlwaysWritten() {
        var folder = LogFolder()
        var one = entry(0)
        one.mayFold = false
        #expect((0..<3).allSatisfy { _ in folder.take(one).isWritten })
    }

    @Test func aClockSetBackEndsTheWindow() {
        var folder = LogFolder()
        _ = folder.take(entry(1_000_000))
        #expect(folder.take(entry(0)).isWritten)
    }

    @Test func rememberedKeysAreLimited() {
        var folder = LogFolder()
        for index in 0..<1000 { #expect(folder.take(entry(Int64(index), "e\(index)")).isWritten) }
        #expect(folder.take(entry(1000, "e0")).isWritten)
        #expect(!folder.take(entry(1000, "e999")).isWritten)
    }
}

@Suite struct LogPipelineTests {
    private struct CollectedLog {
        let registry = MetricRegistry()
        let collector = LineCollector()
        let time = Time()
        let pipeline: LogPipeline

        final class Time: Sendable {
            let now = Atomic<Int64>(0)
        }

        init(format: LogFormat = .json, level: Logger.Level = .info) {
            pipeline = LogPipeline(
                format: format,
                level: level,
                sinks: [collector],
                metrics: MetricRegistry.$current.withValue(registry) { LogMetrics() },
                nowMilliseconds: { [time] in time.now.load(ordering: .relaxed) }
            )
        }

        func logger(_ label: String = "starwatch") -> Logger {
            Logger(label: label, factory: { pipeline.handler(label: $0) })
        }
    }

    @Test func wellKnownKeysBecomeFields() {
        let log = CollectedLog()
        log.pipeline.setPseudonym { _ in "did:hash:00000000000000ff" }
        log.logger().info(
            "poll_finished",
            metadata: [
                "run_id": "r1", "request_id": "q1", "identity": "did:ethr:0xabc", "change_count": "3",
                "duration_ms": .number(1.5), "poll": "starred_projects", "error": "boom",
                "tries": .number(2), "agentDid": "did:key:z6",
            ]
        )
        #expect(
            log.collector.lines == [
                #"{"timestamp":"1970-01-01T00:00:00.000Z","level":"INFO","event":"poll_finished","request_id":"q1","#
                    + #""run_id":"r1","identity":"did:hash:00000000000000ff","change_count":3,"duration_ms":1.5,"#
                    + #""error":"boom","metadata":{"agentDid":"did:hash:00000000000000ff","poll":"starred_projects","#
                    + #""tries":2}}"# + "\n"
            ]
        )
    }

    @Test func withoutAKeyAnIdentityIsRedacted() {
        let log = CollectedLog()
        log.logger().info("x", metadata: ["identity": "did:ethr:0xabc"])
        #expect(log.collector.lines[0].contains(#""identity":"[REDACTED:did]""#))
    }

    @Test(arguments: [LogFormat.json, .text])
    func secretsAreRedactedInEveryField(format: LogFormat) {
        let log = CollectedLog(format: format)
        struct Failure: Error, CustomStringConvertible {
            let description = "refused did:ethr:0xCAFE with Bearer CAFE"
        }
        var logger = log.logger("did:key:zCAFE")
        logger[metadataKey: "context"] = "did:ethr:0xCAFE"
        let secret = "did%3Aethr%3A0xCAFE token=CAFE \(RedactorTests.ulid)"
        logger.error(
            "did:ethr:0xCAFE",
            metadata: [
                "error": "\(secret)", "nested": ["list": ["\(secret)"], "did:ethr:0xCAFE": "\(secret)"],
                "run_id": "\(secret)", "request_id": "\(secret)", "identity": "\(secret)", "password": "CAFE",
                "plain": .sensitive("CAFE"),
            ]
        )
        logger.error("failed", error: Failure())
        let all = log.collector.lines.joined()
        #expect(log.collector.lines.count == 2)
        #expect(!all.contains("CAFE"), "\(all)")
        #expect(!all.contains(RedactorTests.ulid))
        #expect(all.contains("[REDACTED:id]"))
    }

    @Test func entriesRedactionsAndRepetitionsAreCounted() {
        let log = CollectedLog()
        let logger = log.logger()
        for _ in 0..<3 { logger.warning("failed", metadata: ["error": "did:a:b"]) }
        logger.debug("unseen")
        let page = text(log.registry.page(.text))
        #expect(page.contains("starwatch_log_entries_total{level=\"warn\"} 3\n"))
        #expect(page.contains("starwatch_log_entries_total{level=\"debug\"} 0\n"))
        #expect(page.contains("starwatch_log_redactions_total{kind=\"did\"} 3\n"))
        #expect(page.contains("starwatch_log_suppressed_total 2\n"))
        #expect(log.collector.lines.count == 1)
        log.pipeline.flushExpired()
        #expect(log.collector.lines.count == 1)
        log.time.now.store(60_000, ordering: .relaxed)
        log.pipeline.flushExpired()
        #expect(
            log.collector.lines.last
                == #"{"timestamp":"1970-01-01T00:01:00.000Z","level":"WARN","event":"failed","suppressed":2,"#
                + #""error":"[REDACTED:did]"}"# + "\n"
        )
    }

    @Test func flushWritesTheRemainingSummaries() {
        let log = CollectedLog()
        for _ in 0..<3 { log.logger().error("failed") }
        log.pipeline.flush()
        log.pipeline.flush()
        #expect(log.collector.lines.count == 2)
        #expect(log.collector.lines[1].contains(#""suppressed":2"#))
    }

    @Test func theLogSinksEntriesAreNeverFolded() {
        let log = CollectedLog()
        for _ in 0..<3 { log.logger().info("notification", metadata: ["fold": "never"]) }
        #expect(log.collector.lines.count == 3)
        #expect(!log.collector.lines[0].contains("fold"))
    }

    @Test func aLoggersOwnLevelHidesEntriesThatThePipelineTakes() {
        let log = CollectedLog(format: .text, level: .debug)
        let logger = log.logger()
        var own = logger
        own.logLevel = .error
        own.warning("one")
        logger.debug("two")
        #expect(log.collector.lines == ["1970-01-01T00:00:00.000Z DEBUG two\n"])
    }

    @Test func aSecondSinkGetsTheSameRedactedLines() {
        let log = CollectedLog()
        let ring = LineCollector()
        log.pipeline.add(ring)
        log.logger().notice("x", metadata: ["a": "did:a:b"])
        #expect(ring.lines == log.collector.lines)
        #expect(ring.records[0].entry.severity == .info)
    }

    @Test func labelsOfDependenciesAreKept() {
        let log = CollectedLog()
        log.logger("hummingbird").info("x")
        #expect(log.collector.lines[0].contains(#""metadata":{"logger":"hummingbird"}"#))
        for _ in 0..<2 { log.logger("hummingbird").error("y", metadata: ["z": "1"]) }
        log.pipeline.flush()
        #expect(log.collector.lines[2].contains(#""event":"y","suppressed":1,"metadata":{"logger":"hummingbird"}"#))
    }
}

@Suite struct DescriptorWriterTests {
    @Test func stalledReaderDropsLinesWithoutDelay() throws {
        let pipe = Pipe.make()
        let output = pipe.fileHandleForWriting.fileDescriptor
        _ = fcntl(output, F_SETFL, O_NONBLOCK)
        while write(output, String(repeating: "x", count: 4096), 4096) > 0 {}
        _ = fcntl(output, F_SETFL, 0)
        let drops = Atomic<Int>(0)
        let writer = DescriptorWriter(descriptor: output, onDrop: { drops.add(1, ordering: .relaxed) })
        let entry = LogEntry(timestampMilliseconds: 0, severity: .info, event: "")
        let line = Array("{}\n".utf8)
        for _ in 0..<1000 { writer.take(entry, line: line) }
        #expect(drops.load(ordering: .relaxed) == 1000)
        _ = pipe.fileHandleForReading.availableData
        writer.take(entry, line: line)
        #expect(drops.load(ordering: .relaxed) == 1000)
    }

    /// The waits of a writer whose reader reads when a test says so.
    private final class Reader: Sendable {
        let waits = Mutex<[Int32]>([])
        let isThere = Atomic(false)

        func wait(_ milliseconds: Int32) -> Int32? {
            waits.withLock { $0.append(milliseconds) }
            return isThere.load(ordering: .relaxed) ? 40 : nil
        }
    }

    @Test func aStalledReaderIsWaitedForOnceAnd100MillisecondsAtMost() throws {
        let reader = Reader()
        let drops = Atomic<Int>(0)
        let output = Pipe.make()
        let writer = DescriptorWriter(
            descriptor: output.fileHandleForWriting.fileDescriptor,
            onDrop: { drops.add(1, ordering: .relaxed) },
            wait: { [reader] in reader.wait($1) }
        )
        func take(_ bytes: Int) {
            let line = [UInt8](repeating: 0x61, count: bytes)
            writer.take(LogEntry(timestampMilliseconds: 0, severity: .info, event: ""), line: line)
        }
        for _ in 0..<4 { take(10) }
        #expect(reader.waits.withLock { $0 } == [100, 0, 0, 0])
        #expect(drops.load(ordering: .relaxed) == 4)
        reader.isThere.store(true, ordering: .relaxed)
        take(10)
        reader.waits.withLock { $0 = [] }
        // The parts of a long line share one wait.
        take(4 * Int(PIPE_BUF))
        #expect(reader.waits.withLock { $0 } == [100, 60, 20, 0])
        #expect(drops.load(ordering: .relaxed) == 4)
    }

    @Test func linesOfManyWritersDoNotInterleave() {
        let pipe = Pipe.make()
        // A busy machine lets the reader stand still for longer than a writer waits. The test would wait for the dropped line.
        let writer = DescriptorWriter(
            descriptor: pipe.fileHandleForWriting.fileDescriptor,
            wait: { descriptor, _ in
                var ready = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                return poll(&ready, 1, -1) > 0 ? 0 : nil
            }
        )
        // Writers block when the pipe is full, so each has its own thread.
        for letter in "abcd".utf8 {
            Thread.detachNewThread {
                let line = [UInt8](repeating: letter, count: 9000) + [0x0A]
                for _ in 0..<50 {
                    writer.take(LogEntry(timestampMilliseconds: 0, severity: .info, event: ""), line: line)
                }
            }
        }
        var received: [UInt8] = []
        while received.count < 4 * 50 * 9001 {
            received += pipe.fileHandleForReading.availableData
        }
        let lines = received.split(separator: 0x0A)
        #expect(lines.count == 200)
        #expect(lines.allSatisfy { $0.count == 9000 && Set($0).count == 1 })
    }

    /// Zones such as `right/UTC` count leap seconds. In a process of its own, because the zone is that of all its threads.
    @Test func timesHaveNoLeapSecondsOfTheZone() async {
        await #expect(processExitsWith: .success) {
            // A zone file without changes, with one leap second in 1972.
            let counts: [UInt8] = [0, 0, 1, 0, 1, 4].flatMap { [0, 0, 0, $0] }
            let zone =
                Array("TZif".utf8) + [UInt8](repeating: 0, count: 16) + counts + [0, 0, 0, 0, 0, 0]
                + Array("UTC\0".utf8) + [0x04, 0xB2, 0x58, 0x00, 0, 0, 0, 1]
            let path = FileManager.default.temporaryDirectory.path + "/starwatch-zone-" + UUID().uuidString
            try Data(zone).write(to: URL(filePath: path))
            defer { try? FileManager.default.removeItem(atPath: path) }
            setenv("TZ", path, 1)
            tzset()
            var (seconds, date) = (time_t(1_767_225_600), tm())
            gmtime_r(&seconds, &date)
            try #require(date.tm_sec == 59, "The zone has no leap second.")
            var bytes: [UInt8] = []
            bytes.append(time: 1_767_225_600_000)
            try #require(String(decoding: bytes, as: UTF8.self) == "2026-01-01T00:00:00.000Z")
        }
    }

    /// In a process of its own, because the signal's action holds for all tests and for the programs that they start.
    @Test(.timeLimit(.minutes(5))) func closedReaderDropsLines() async {
        await #expect(processExitsWith: .success) {
            signal(SIGPIPE, SIG_IGN)
            let pipe = Pipe.make()
            try pipe.fileHandleForReading.close()
            let drops = Atomic<Int>(0)
            DescriptorWriter(
                descriptor: pipe.fileHandleForWriting.fileDescriptor,
                onDrop: { drops.add(1, ordering: .relaxed) }
            )
            .take(LogEntry(timestampMilliseconds: 0, severity: .info, event: ""), line: [0x0A])
            try #require(drops.load(ordering: .relaxed) == 1)
            withExtendedLifetime(pipe) {}
        }
    }
}
