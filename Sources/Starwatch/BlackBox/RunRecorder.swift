import Glibc
package import StarwatchCore
import StarwatchTransport
import Synchronization

/// The runs of the agent in the black box: it marks starts and ends, and knows how the former ones ended.
package final class RunRecorder: Sendable {
    private let box: BlackBoxRecorder
    private let machine: @Sendable () -> RunStart
    /// The start of this run, `nil` before it, and the ends of former runs, `nil` until somebody asked.
    private let state: Mutex<(startedAt: Timestamp?, known: [RunEnd]?)>

    /// - Parameters:
    ///   - machine: Reads the facts about the machine.
    ///   - previous: The recorder that a reload continues.
    init(
        _ box: BlackBoxRecorder,
        machine: @escaping @Sendable () -> RunStart = { .current },
        after previous: RunRecorder?
    ) {
        (self.box, self.machine) = (box, machine)
        let (startedAt, known) = previous?.state.withLock { $0 } ?? (nil, nil)
        state = Mutex((startedAt, known))
        if startedAt != nil { box.beginRun() }
    }

    /// Marks the start of a run.
    ///
    /// The end of the former run is noted before the start is marked. A kill between the two leaves the former run without
    /// its next start, so the next agent notes the same end again.
    ///
    /// - Parameter note: Notes the end of the former run, which is the last of all that are known. A run that recorded its
    ///   end can have been killed before it noted that.
    func begin(now: Timestamp, _ note: ([RunEnd]) async -> Void = { _ in }) async {
        let content = await box.open()
        var start = machine()
        start.formerSign = content.lastSign
        let ends = RunEnd.ends(content.marks, before: (start, now))
        state.withLock { $0.known = ends }
        await note(ends)
        start.formerSign = ends.last?.after
        state.withLock { $0.startedAt = now }
        box.beginRun()
        box.add(.start, at: now, start.text)
        await box.flush()
    }

    /// Marks that the agent was asked to stop.
    func stopping(now: Timestamp) { box.add(.stopping, at: now) }

    /// Writes that the run lives.
    func sign(now: Timestamp) { box.sign(at: now) }

    /// Marks the end of the run, and returns when the mark is on the disk: who notes the end does it after that, so that a
    /// kill between the two leaves it to the next start.
    ///
    /// - Parameter box: Another recorder, if that of the run is closed.
    /// - Returns: The end; `nil` if no run has begun, or if it has an end.
    @discardableResult
    func end(_ cause: RunEndCause, now: Timestamp, in box: BlackBoxRecorder? = nil) async -> RunEnd? {
        let startedAt = state.withLock { state in
            defer { state.startedAt = nil }
            return state.startedAt
        }
        guard let startedAt else { return nil }
        let box = box ?? self.box
        box.add(.end, at: now, cause.rawValue)
        await box.flush()
        var end = RunEnd(startedAt: startedAt, at: now, cause)
        end.isRecorded = true
        return end
    }

    /// The ends of former runs, the oldest first: the last hundreds.
    ///
    /// An agent that does not run looks at the file, and counts the last run as ended.
    package func ends() -> [RunEnd] {
        if let ends = state.withLock(\.known) { return ends }
        let content = box.storedContent()
        let ends = RunEnd.ends(content.marks, before: (machine().looking(at: content), nil))
        return state.withLock { state in
            if state.known == nil { state.known = ends }
            return state.known ?? []
        }
    }
}

extension RunStart {
    /// The machine, with the last sign of life in the black box of an agent that does not run.
    func looking(at content: BlackBox.Content) -> RunStart {
        var machine = self
        machine.formerSign = content.lastSign
        return machine
    }

    /// The machine now.
    package static var current: RunStart {
        let boot = text(of: "/proc/sys/kernel/random/boot_id").split(separator: "\n").first ?? ""
        return RunStart(boot: String(boot), cgroup: .current())
    }

    fileprivate static func text(of path: String) -> String {
        String(decoding: FileBytes.read(path, limit: 1_048_576) ?? [], as: UTF8.self)
    }
}

extension ControlGroup {
    /// The cgroup of this process.
    ///
    /// - Parameter process: The folder with the kernel's facts about the process.
    static func current(_ process: String = "/proc/self") -> ControlGroup? {
        let (groups, mounts) = (RunStart.text(of: process + "/cgroup"), RunStart.text(of: process + "/mountinfo"))
        var status = stat()
        guard let folder = folder(groups: groups, mounts: mounts), stat(folder, &status) == 0 else { return nil }
        return ControlGroup(number: UInt64(status.st_ino), events: RunStart.text(of: folder + "/memory.events"))
    }
}
