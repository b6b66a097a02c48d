import StarwatchCore
import Testing

@Suite("The end of a run")
struct RunEndTests {
    private var marks: [BlackBoxRecord] = []

    private mutating func mark(_ kind: BlackBoxRecord.Kind, at seconds: Int64, _ text: String = "") {
        let time = Timestamp(milliseconds: seconds * 1000)
        marks.append(BlackBoxRecord(kind, sequence: UInt64(marks.count + 1), at: time, text))
    }

    private mutating func start(at seconds: Int64, boot: String = "one", kills: Int = 0) {
        mark(.start, at: seconds, RunStart(boot: boot, memoryKills: kills).text)
    }

    private var causes: [RunEndCause] { RunEndDecision.ends(marks).map(\.cause) }

    @Test("that recorded itself has its own cause")
    mutating func recorded() {
        start(at: 1)
        mark(.stopping, at: 2)
        mark(.end, at: 3, RunEndCause.stopped.rawValue)
        start(at: 4)
        mark(.end, at: 5, RunEndCause.failed.rawValue)
        #expect(causes == [.stopped, .failed])
    }

    @Test("without a record is a kill on the same boot of the machine")
    mutating func killed() {
        start(at: 1)
        start(at: 9)
        #expect(
            RunEndDecision.ends(marks) == [
                RunEnd(startedAt: Timestamp(milliseconds: 1000), at: Timestamp(milliseconds: 9000), .killed)
            ]
        )
    }

    @Test("without a record on another boot is the machine's")
    mutating func rebooted() {
        start(at: 1, boot: "one", kills: 3)
        start(at: 9, boot: "two", kills: 4)
        #expect(causes == [.machineRestarted])
    }

    @Test("is put down to memory if the kernel has killed for memory since its start")
    mutating func memory() {
        start(at: 1, kills: 3)
        start(at: 9, kills: 4)
        #expect(causes == [.outOfMemory])
    }

    @Test("after a request to stop is asked for, even if the agent was killed before it had ended")
    mutating func late() {
        start(at: 1)
        mark(.stopping, at: 2)
        start(at: 9, boot: "two")
        #expect(causes == [.stoppedLate])
        #expect(RunEndCause.stoppedLate.isAskedFor)
    }

    @Test("by a signal has the signal and the time of the crash")
    mutating func crashed() throws {
        start(at: 1)
        mark(.crash, at: 4, "crashed 11")
        start(at: 9)
        mark(.crash, at: 12, "watchdog 6")
        start(at: 20)
        let ends = RunEndDecision.ends(marks)
        #expect(ends.map(\.cause) == [.crashed, .watchdog])
        #expect(ends.map(\.at.milliseconds) == [4000, 12_000])
        #expect(ends[0].phrase == "crashed (SIGSEGV)")
    }

    @Test("of the last run is known by a start that has no mark yet; a run that continues has none")
    mutating func last() {
        start(at: 1)
        #expect(causes.isEmpty)
        let next = (RunStart(boot: "one", memoryKills: 0), Timestamp(milliseconds: 5000))
        #expect(RunEndDecision.ends(marks, before: next).map(\.cause) == [.killed])
    }

    @Test("counts only within the window, and only if nobody asked for it")
    mutating func window() {
        for second in [100, 200, 300] as [Int64] { start(at: second) }
        mark(.end, at: 400, RunEndCause.stopped.rawValue)
        let ends = RunEndDecision.ends(marks)
        #expect(ends.count == 3)
        let now = Timestamp(milliseconds: 310_000)
        #expect(RunEndDecision.unasked(ends, within: .seconds(60), now: now).map(\.at.milliseconds) == [300_000])
        #expect(RunEndDecision.unasked(ends, within: .seconds(600), now: now).count == 2)
    }

    @Test("has a mark of one slot, so that many runs are remembered")
    func slots() {
        let start = RunStart(boot: "0123abcd-4567-89ab-cdef-0123456789ab", memoryKills: 12_345)
        for (kind, text) in [
            (BlackBoxRecord.Kind.start, start.text), (.end, "machine_restarted"), (.crash, "crashed 11"),
        ] {
            #expect(
                BlackBoxFrame.encode(BlackBoxRecord(kind, sequence: .max, at: Timestamp(milliseconds: .max), text))
                    .count == 64
            )
        }
    }
}
