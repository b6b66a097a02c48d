import Foundation
import Logging
import StarwatchCore
import StarwatchTelemetry
import Testing

@testable import Starwatch

extension BlackBoxRecorder {
    fileprivate func take(line: String) {
        take(.init(timestampMilliseconds: 5, severity: .info, event: ""), line: Array("\(line)\n".utf8))
    }
}

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

    /// A logger whose notable lines go to the black box.
    private func logger(_ box: BlackBoxRecorder, now: @escaping @Sendable () -> Int64 = { 5 }) -> (Logger, LogPipeline)
    {
        let pipeline = LogPipeline(format: .json, level: .info, sinks: [], metrics: nil, nowMilliseconds: now)
        pipeline.setBlackBox(box)
        let handler = pipeline.handler(label: "starwatch")
        return (Logger(label: "starwatch", factory: { _ in handler }), pipeline)
    }

    @Test("has the lines of a process that was killed, and the file's full size and mode from the start")
    func kill() async throws {
        let box = BlackBoxRecorder(besides: database)
        box.take(line: "one")
        box.take(line: "three")
        // The queue writes by itself; waiting for it stands for the time before the kill. The recorder is not closed.
        await box.flush()
        #expect(try content().lines.map(\.text) == ["one", "three"])
        let attributes = try FileManager.default.attributesOfItem(atPath: file)
        #expect(attributes[.size] as? Int == BlackBox.fileBytes)
        #expect(attributes[.posixPermissions] as? Int == 0o600)
        #expect(try #require(BlackBoxFile.read(path: file)).isInUse)
    }

    @Test("has the failure of a start in every format of the log", arguments: LogOptions.Format.allCases)
    func failedStart(format: LogOptions.Format) async throws {
        var options = AgentOptions()
        options.storage.path = database
        options.log.format = format
        let error = AgentError(.configuration, "The database is damaged.")
        #expect(await AgentLog.noteEnd(by: error, of: options) == (format == .json))
        let lines = try content().lines.map { LoggedLine($0.text) }
        #expect(lines.map(\.event) == ["agent.failed"])
        #expect(try content().lines.first?.text.contains("The database is damaged.") == true)
    }

    @Test("has the beginning and the end of a problem after hours in which a poll misses runs each second")
    func frequent() async throws {
        let box = BlackBoxRecorder(besides: database)
        let clock = ManualClock()
        let (logger, pipeline) = logger(box) { clock.now.milliseconds }
        let problem: AgentEvent.Fields = [.problem: "signed_out", .since: "then"]
        logger.log(.problemBegan, problem)
        logger.log(.problemEnded, problem)
        for second in 1...7200 {
            clock.advance(by: .seconds(1))
            logger.log(.pollRunsMissed, [.poll: "offers", .count: .number(second % 7 + 1)])
            logger.log(.sinkUnavailable, [.sink: "hook", .error: "It does not answer.", .reason: "timeout"])
            // Without a black box's own rule, each line of another kind would write the counts of the repeated ones.
            logger.log(.pollUnchanged, [.runID: "run_\(second)", .poll: "offers", .changeCount: .number(second)])
            if second % 500 == 0 { await box.flush() }
        }
        pipeline.flush()
        await box.flush()
        let lines = try content().lines.map { LoggedLine($0.text) }
        #expect(lines.prefix(2).map(\.event) == ["problem.began", "problem.ended"])
        // The first of each ten minutes, and a count of the others.
        for event in [AgentEvent.pollRunsMissed, .sinkUnavailable] {
            let told = lines.filter { $0.event == event.name }
            #expect(told.count == 24)
            let folded = told.compactMap { $0["suppressed"].flatMap { Int($0) } }
            #expect(told.count - folded.count + folded.reduce(0, +) == 7200)
        }
        #expect(lines.count == 50)
    }

    @Test("has no line of refused requests and of notifications, of which others can cause any number")
    func floods() async throws {
        let box = BlackBoxRecorder(besides: database)
        let (logger, pipeline) = logger(box)
        for number in 0..<3 {
            logger.log(.httpRefused, [.error: "refused \(number)", .reason: "password"])
            logger.log(.controlRefused, [.error: "refused \(number)", .reason: "token"])
            logger.log(.httpRefused, [.error: "refused", .reason: "password"])
            logger.log(.notification, [.notificationID: "ntf_\(number)"])
        }
        logger.log(.agentFailed, [.error: "an end"])
        pipeline.flush()
        await box.flush()
        #expect(try content().lines.map { LoggedLine($0.text).event } == ["agent.failed"])
        await box.close()
    }

    @Test("is not made by an agent that logs nothing notable")
    func lazy() async {
        let box = BlackBoxRecorder(besides: database)
        logger(box).0.log(.pollUnchanged, [.poll: "offers"])
        #expect(box.storedContent().marks.isEmpty)
        await box.close()
        #expect(!FileManager.default.fileExists(atPath: file))
        let none = BlackBoxRecorder(besides: nil)
        none.take(line: "text")
        await none.close()
        #expect(await none.open().marks.isEmpty)
    }

    @Test("continues after a restart, and after its file was cut")
    func resume() async throws {
        for number in 0..<3 {
            let box = BlackBoxRecorder(besides: database)
            box.take(line: "line \(number)")
            await box.close()
            #expect(try !#require(BlackBoxFile.read(path: file)).isInUse)
            if number == 1 { #expect(truncate(file, 65_536 + 130) == 0) }
        }
        #expect(try content().lines.map(\.text) == ["line 0", "line 1", "line 2"])
    }

    @Test("begins anew over a file of another version or of another program")
    func foreign() async throws {
        for text in ["starwatch black box 77\n", "SQLite format 3"] {
            try folder.write(text + String(repeating: "x", count: 300_000), to: "starwatch.db.blackbox")
            let box = BlackBoxRecorder(besides: database)
            box.take(line: "new")
            await box.close()
            #expect(try content().lines.map(\.text) == ["new"])
        }
    }

    @Test("belongs to one agent at a time: a second one writes nothing")
    func lock() async throws {
        let first = BlackBoxRecorder(besides: database)
        first.take(line: "first")
        await first.flush()
        let second = BlackBoxRecorder(besides: database)
        second.take(line: "second")
        await second.close()
        await first.close()
        #expect(try content().lines.map(\.text) == ["first"])
    }

    @Test("follows no link, and needs no folder")
    func link() async throws {
        try folder.write("precious", to: "other")
        try FileManager.default.createSymbolicLink(atPath: file, withDestinationPath: folder.path("other"))
        let box = BlackBoxRecorder(besides: database)
        box.take(line: "text")
        await box.close()
        #expect(try String(contentsOfFile: folder.path("other"), encoding: .utf8) == "precious")
        let nowhere = BlackBoxRecorder(besides: folder.path("missing/starwatch.db"))
        nowhere.take(line: "text")
        await nowhere.close()
    }

    @Test("drops the oldest records, and never waits, while the disk is slow")
    func bound() async throws {
        let box = BlackBoxRecorder(besides: database)
        for number in 0..<3000 { box.take(line: "line \(number)") }
        await box.close()
        #expect(try content().lines.last?.text == "line 2999")
    }

    @Test("tells a killed run from one that was asked to stop")
    func runs() async throws {
        let start = RunStart(boot: "one")
        func run(_ body: (RunRecorder) async -> Void) async -> RunEnd? {
            let box = BlackBoxRecorder(besides: database)
            let runs = RunRecorder(box, machine: { start }, after: nil)
            var end: RunEnd?
            await runs.begin(now: Timestamp(seconds: 100)) { end = $0.last }
            await body(runs)
            await box.close()
            return end
        }
        #expect(await run { _ in } == nil)
        #expect(await run { await $0.end(.stopped, now: Timestamp(seconds: 101)) }?.cause == .killed)
        // The end of a run that recorded it is told to the next start too, which notes what the run could not.
        let recorded = await run { $0.stopping(now: Timestamp(seconds: 102)) }
        #expect(recorded?.cause == .stopped)
        #expect(recorded?.isRecorded == true)
        #expect(await run { _ in }?.cause == .stoppedLate)
        let idle = RunRecorder(BlackBoxRecorder(besides: database), machine: { start }, after: nil)
        // An agent that does not run counts the last run as ended.
        #expect(idle.ends().map(\.cause) == [.killed, .stopped, .stoppedLate, .killed])
    }

    @Test("knows the kernel's count of the agent's own cgroup from the files of the system")
    func cgroup() throws {
        let group = folder.path("tree/starwatch.service")
        try FileManager.default.createDirectory(atPath: group, withIntermediateDirectories: true)
        try folder.write("0::/starwatch.service\n", to: "cgroup")
        try folder.write("30 23 0:26 / \(folder.path("tree")) rw - cgroup2 cgroup2 rw\n", to: "mountinfo")
        #expect(ControlGroup.current(folder.path("")) == nil)
        try folder.write("low 0\noom 4\noom_kill 3\n", to: "tree/starwatch.service/memory.events")
        let found = try #require(ControlGroup.current(folder.path("")))
        #expect(found.memoryKills == 3)
        try folder.write("oom_kill 4\n", to: "tree/starwatch.service/memory.events")
        #expect(ControlGroup.current(folder.path(""))?.name == found.name)
    }

    @Test("has the last sign of life of a killed run, which a command and a failed start leave alone")
    func signs() async throws {
        let start = RunStart(boot: "one")
        let box = BlackBoxRecorder(besides: database)
        let runs = RunRecorder(box, machine: { start }, after: nil)
        // Before the start it is no sign of a run.
        runs.sign(now: Timestamp(seconds: 90))
        await runs.begin(now: Timestamp(seconds: 100))
        runs.sign(now: Timestamp(seconds: 130))
        await box.close()
        let command = BlackBoxRecorder(besides: database)
        command.add(.line, at: Timestamp(seconds: 500), "an action")
        await command.close()
        let look = RunRecorder(BlackBoxRecorder(besides: database), machine: { start }, after: nil)
        let last = try #require(look.ends().last)
        #expect(last.after == Timestamp(seconds: 130) && last.before == nil)
        let next = BlackBoxRecorder(besides: database)
        await RunRecorder(next, machine: { start }, after: nil).begin(now: Timestamp(seconds: 900))
        await next.close()
        // The new run's own sign does not replace it.
        let again = BlackBoxRecorder(besides: database)
        await RunRecorder(again, machine: { start }, after: nil).begin(now: Timestamp(seconds: 950))
        await again.close()
        let ends = RunEnd.ends(try content().marks)
        #expect(ends.map(\.after) == [130, 900].map { Timestamp(seconds: $0) })
        #expect(ends.map(\.before) == [900, 950].map { Timestamp(seconds: $0) })
    }

    @Test("has no mark of a start until the former end is noted, and that of an end before anybody can note it")
    func order() async throws {
        let killed = BlackBoxRecorder(besides: database)
        await RunRecorder(killed, after: nil).begin(now: Timestamp(seconds: 100))
        await killed.close()
        let box = BlackBoxRecorder(besides: database)
        let runs = RunRecorder(box, after: nil)
        var noted: [BlackBoxRecord.Kind]?
        await runs.begin(now: Timestamp(seconds: 200)) { _ in
            await box.flush()
            noted = try? content().marks.map(\.kind)
        }
        #expect(noted == [.start])
        #expect(try content().marks.map(\.kind) == [.start, .start])
        #expect(await runs.end(.stopped, now: Timestamp(seconds: 300)) != nil)
        #expect(try content().marks.last?.kind == .end)
        // A run has one end.
        #expect(await runs.end(.failed, now: Timestamp(seconds: 301)) == nil)
        await box.close()
    }

    @Test("counts a line of a run as its sign of life")
    func lines() async throws {
        let box = BlackBoxRecorder(besides: database)
        await RunRecorder(box, after: nil).begin(now: Timestamp(milliseconds: 1))
        box.take(line: "a line at 5 ms")
        await box.close()
        #expect(try content().sign == Timestamp(milliseconds: 5))
    }
}
