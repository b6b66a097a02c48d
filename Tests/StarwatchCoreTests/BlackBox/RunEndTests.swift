import StarwatchCore
import Testing

@Suite("The end of a run")
struct RunEndTests {
    private var marks: [BlackBoxRecord] = []

    private func time(_ seconds: Int64) -> Timestamp { Timestamp(milliseconds: seconds * 1000) }

    private mutating func mark(_ kind: BlackBoxRecord.Kind, at seconds: Int64, _ text: String = "") {
        let time = Timestamp(milliseconds: seconds * 1000)
        marks.append(BlackBoxRecord(kind, sequence: UInt64(marks.count + 1), at: time, text))
    }

    private static let boot = "0123456789ab"

    private mutating func start(at seconds: Int64, boot: String = boot, cgroup: UInt64 = 7, kills: Int? = nil) {
        let group = kills.flatMap { ControlGroup(number: cgroup, events: "oom 9\noom_kill \($0)\noom_group_kill 0\n") }
        mark(.start, at: seconds, RunStart(boot: boot, cgroup: group).text)
    }

    private var causes: [RunEndCause] { RunEnd.ends(marks).map(\.cause) }

    @Test("that recorded itself has its own cause")
    mutating func recorded() {
        start(at: 1)
        mark(.stopping, at: 2)
        mark(.end, at: 3, RunEndCause.stopped.rawValue)
        start(at: 4)
        mark(.end, at: 5, RunEndCause.failed.rawValue)
        #expect(causes == [.stopped, .failed])
    }

    @Test("without a record is a kill on the same boot of the machine, between two times")
    mutating func killed() {
        start(at: 1)
        start(at: 9)
        let end = RunEnd.ends(marks)[0]
        #expect((end.cause, end.startedAt, end.at) == (.killed, time(1), time(9)))
        #expect(end.after == time(1) && end.before == time(9))
        #expect(!end.isRecorded)
    }

    @Test("has the last sign of life that the next start found, unless that is of another run")
    mutating func sign() {
        for (found, expected) in [(6, 6), (0, 1), (12, 1)] as [(Int64, Int64)] {
            marks = []
            start(at: 1)
            var next = RunStart(boot: Self.boot)
            next.formerSign = time(found)
            mark(.start, at: 9, next.text)
            #expect(RunEnd.ends(marks)[0].after == time(expected))
        }
        let end = RunEnd.ends(marks)[0]
        #expect(end.account == "was killed from outside, between 1970-01-01T00:00:01.000Z and 1970-01-01T00:00:09.000Z")
    }

    @Test("without a record on another boot is the machine's")
    mutating func rebooted() {
        start(at: 1, kills: 3)
        start(at: 9, boot: "ba9876543210", kills: 4)
        #expect(causes == [.machineRestarted])
    }

    @Test("is put down to memory if the kernel has killed a program of the agent's own cgroup since its start")
    mutating func memory() {
        start(at: 1, kills: 3)
        start(at: 9, kills: 4)
        #expect(causes == [.outOfMemory])
    }

    @Test("is a kill from outside without such a count, in a new cgroup, and after a count of the machine's kills")
    mutating func notMemory() {
        start(at: 1, kills: 0)
        start(at: 9, cgroup: 8, kills: 4)
        start(at: 19)
        start(at: 29, cgroup: 8, kills: 5)
        mark(.start, at: 39, "5 \(Self.boot)cdef")
        mark(.start, at: 49, "6 \(Self.boot)cdef")
        start(at: 59, kills: 7)
        #expect(causes == Array(repeating: .killed, count: 6))
        #expect(RunEnd.ends(marks).first?.phrase == "was killed from outside")
    }

    @Test("has the cgroup of a service, of a container that sees a part of the tree, and none of version 1")
    func cgroup() {
        func folder(_ groups: String, _ mounts: String...) -> String? {
            ControlGroup.folder(groups: groups, mounts: mounts.joined(separator: "\n"))
        }
        let tree = "30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate"
        let part = "900 890 0:26 /docker/ab /sys/fs/cgroup ro - cgroup2 cgroup rw"
        let first = "37 31 0:34 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory"
        let service = "0::/system.slice/starwatch.service"
        #expect(folder(service + "\n", first, tree) == "/sys/fs/cgroup/system.slice/starwatch.service")
        #expect(folder("0::/docker/ab", part) == "/sys/fs/cgroup")
        #expect(folder("0::/docker/ab/agent", part) == "/sys/fs/cgroup/agent")
        #expect(folder("0::/docker/abc", part) == nil)
        #expect(folder("4:memory:/docker/ab", first, tree) == nil)
        #expect(folder(service, first) == nil)
        #expect(folder("", "") == nil && folder("0::/", "- cgroup2") == nil)
        #expect(ControlGroup(number: 7, events: "low 0\noom 3\n") == nil)
        #expect(ControlGroup(number: 7, events: "oom_kill 2\n")?.memoryKills == 2)
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
        let ends = RunEnd.ends(marks)
        #expect(ends.map(\.cause) == [.crashed, .watchdog])
        #expect(ends.map(\.at.milliseconds) == [4000, 12_000])
        #expect(ends[0].phrase == "crashed (SIGSEGV)")
    }

    @Test("of the last run is known by a start that has no mark yet; a run that continues has none")
    mutating func last() {
        start(at: 1)
        #expect(causes.isEmpty)
        var machine = RunStart(boot: Self.boot)
        #expect(RunEnd.ends(marks, before: (machine, time(5))).map(\.at) == [time(5)])
        machine.formerSign = time(3)
        let end = RunEnd.ends(marks, before: (machine, nil))[0]
        #expect(end.after == time(3) && end.before == nil)
        #expect(end.at == time(3) + .milliseconds(1))
        #expect(end.account == "was killed from outside, after 1970-01-01T00:00:03.000Z")
    }

    @Test("counts only within the window, and only if nobody asked for it")
    mutating func window() {
        for second in [100, 200, 300] as [Int64] { start(at: second) }
        mark(.end, at: 400, RunEndCause.stopped.rawValue)
        let ends = RunEnd.ends(marks)
        #expect(ends.count == 3)
        let now = Timestamp(milliseconds: 310_000)
        #expect(RunEnd.unasked(ends, within: .seconds(60), now: now).map(\.at.milliseconds) == [300_000])
        #expect(RunEnd.unasked(ends, within: .seconds(600), now: now).count == 2)
    }

    @Test("has a mark of one slot, so that many runs are remembered")
    func slots() {
        let group = ControlGroup(number: .max, events: "oom_kill 12345")
        var start = RunStart(boot: "0123abcd-4567-89ab-cdef-0123456789ab", cgroup: group)
        start.formerSign = Timestamp(milliseconds: 2_700_000_000_000)
        for (kind, text) in [
            (BlackBoxRecord.Kind.start, start.text), (.end, "machine_restarted"), (.crash, "crashed 11"),
        ] {
            let record = BlackBoxRecord(kind, sequence: .max, at: Timestamp(milliseconds: .max), text)
            #expect(record.frame.count == 64)
        }
    }
}
