import Foundation
import Glibc
import ProgramTestKit
import Testing

@testable import StarwatchTelemetry

@Suite struct JournalStreamTests {
    private let pipe = Pipe.make()
    private var descriptor: Int32 { pipe.fileHandleForWriting.fileDescriptor }

    /// What systemd sets for a service whose output is the pipe.
    private var name: String {
        var status = stat()
        fstat(descriptor, &status)
        return "\(status.st_dev):\(status.st_ino)"
    }

    @Test func onlyTheNamedStreamIsTheJournals() {
        #expect(DescriptorWriter.isJournal(descriptor, environment: ["JOURNAL_STREAM": name]))
        #expect(!DescriptorWriter.isJournal(descriptor, environment: [:]))
        for other in ["", "1:2", name + "0", "x"] {
            #expect(!DescriptorWriter.isJournal(descriptor, environment: ["JOURNAL_STREAM": other]), "\(other)")
        }
        #expect(
            !DescriptorWriter.isJournal(
                pipe.fileHandleForReading.fileDescriptor,
                environment: ["JOURNAL_STREAM": "0:0"]
            )
        )
        #expect(!DescriptorWriter.isJournal(-1, environment: ["JOURNAL_STREAM": name]))
    }

    @Test(arguments: LogFormat.allCases, [true, false])
    func everyLineHasItsPriorityInTheJournalAlone(format: LogFormat, isJournal: Bool) throws {
        let writer = DescriptorWriter(descriptor: descriptor, format: format, hasPriority: isJournal)
        let prefixes = [LogSeverity.debug: "<7>", .info: "<6>", .warn: "<4>", .error: "<3>"]
        var expected = ""
        for severity in LogSeverity.allCases {
            let entry = LogEntry(timestampMilliseconds: 0, severity: severity, event: "poll.failed")
            let line = format == .json ? entry.jsonLine() : entry.textLine()
            writer.take(entry, line: line)
            expected += (isJournal ? prefixes[severity] ?? "?" : "") + String(decoding: line, as: UTF8.self)
        }
        try pipe.fileHandleForWriting.close()
        let written = try #require(try pipe.fileHandleForReading.readToEnd())
        #expect(String(decoding: written, as: UTF8.self) == expected)
    }
}
