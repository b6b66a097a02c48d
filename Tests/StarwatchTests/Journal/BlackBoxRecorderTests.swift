import Foundation
import StarwatchCore
import StarwatchTelemetry
import Testing

@testable import Starwatch

@Suite("The black box beside the database")
struct BlackBoxRecorderTests {
    private let folder: TestFolder
    private let database: String

    init() throws {
        folder = try TestFolder()
        database = folder.path("starwatch.db")
    }

    private var file: String { BlackBox.path(besides: database) }

    private func content() throws -> BlackBox.Content {
        try BlackBox.read(try #require(BlackBoxFile.read(path: file)).bytes)
    }

    private func line(_ text: String, isNotable: Bool = true) -> LogRecord {
        LogRecord(timestampMilliseconds: 5, severity: .info, isNotable: isNotable, line: Array("\(text)\n".utf8))
    }

    @Test("has the notable lines of a process that was killed, and the file's full size and mode from the start")
    func kill() throws {
        let box = BlackBoxRecorder(besides: database)
        box.take(line("one"))
        box.take(line("two", isNotable: false))
        box.take(line("three"))
        // The queue writes by itself; waiting for it stands for the time before the kill. The recorder is not closed.
        box.flush()
        #expect(try content().lines.map(\.text) == ["one", "three"])
        let attributes = try FileManager.default.attributesOfItem(atPath: file)
        #expect(attributes[.size] as? Int == BlackBox.fileBytes)
        #expect(attributes[.posixPermissions] as? Int == 0o600)
        #expect(try #require(BlackBoxFile.read(path: file)).isInUse)
    }

    @Test("is not made by an agent that logs nothing notable")
    func lazy() {
        let box = BlackBoxRecorder(besides: database)
        box.take(line("debug", isNotable: false))
        #expect(box.storedContent().marks.isEmpty)
        box.close()
        #expect(!FileManager.default.fileExists(atPath: file))
        let none = BlackBoxRecorder(besides: nil)
        none.take(line("text"))
        none.close()
        #expect(none.formerMarks().isEmpty)
    }

    @Test("continues after a restart, and after its file was cut")
    func resume() throws {
        for number in 0..<3 {
            let box = BlackBoxRecorder(besides: database)
            box.take(line("line \(number)"))
            box.close()
            #expect(try !#require(BlackBoxFile.read(path: file)).isInUse)
            if number == 1 { #expect(truncate(file, 65_536 + 130) == 0) }
        }
        #expect(try content().lines.map(\.text) == ["line 0", "line 1", "line 2"])
    }

    @Test("begins anew over a file of another version or of another program")
    func foreign() throws {
        for text in ["starwatch black box 77\n", "SQLite format 3"] {
            try folder.write(text + String(repeating: "x", count: 300_000), to: "starwatch.db.blackbox")
            let box = BlackBoxRecorder(besides: database)
            box.take(line("new"))
            box.close()
            #expect(try content().lines.map(\.text) == ["new"])
        }
    }

    @Test("belongs to one agent at a time: a second one writes nothing")
    func lock() throws {
        let first = BlackBoxRecorder(besides: database)
        first.take(line("first"))
        first.flush()
        let second = BlackBoxRecorder(besides: database)
        second.take(line("second"))
        second.close()
        first.close()
        #expect(try content().lines.map(\.text) == ["first"])
    }

    @Test("follows no link, and needs no folder")
    func link() throws {
        try folder.write("precious", to: "other")
        try FileManager.default.createSymbolicLink(atPath: file, withDestinationPath: folder.path("other"))
        let box = BlackBoxRecorder(besides: database)
        box.take(line("text"))
        box.close()
        #expect(try String(contentsOfFile: folder.path("other"), encoding: .utf8) == "precious")
        let nowhere = BlackBoxRecorder(besides: folder.path("missing/starwatch.db"))
        nowhere.take(line("text"))
        nowhere.close()
    }

    @Test("drops the oldest records, and never waits, while the disk is slow")
    func bound() throws {
        let box = BlackBoxRecorder(besides: database)
        for number in 0..<3000 { box.take(line("line \(number)")) }
        box.close()
        #expect(try content().lines.last?.text == "line 2999")
    }

    @Test("tells a killed run from one that was asked to stop")
    func runs() throws {
        let start = RunStart(boot: "one", memoryKills: 0)
        func run(_ body: (RunRecorder) -> Void) -> RunEnd? {
            let box = BlackBoxRecorder(besides: database)
            let runs = RunRecorder(box, machine: { start }, after: nil)
            let end = runs.begin(now: Timestamp(seconds: 100))
            body(runs)
            box.close()
            return end
        }
        #expect(run { _ in } == nil)
        #expect(run { $0.end(.stopped, now: Timestamp(seconds: 101)) }?.cause == .killed)
        #expect(run { $0.stopping(now: Timestamp(seconds: 102)) } == nil)
        #expect(run { _ in }?.cause == .stoppedLate)
        let idle = RunRecorder(BlackBoxRecorder(besides: database), machine: { start }, after: nil)
        // An agent that does not run counts the last run as ended.
        #expect(idle.ends(now: Timestamp(seconds: 110)).map(\.cause) == [.killed, .stopped, .stoppedLate, .killed])
    }
}
