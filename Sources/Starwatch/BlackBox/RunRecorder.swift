import Glibc
package import StarwatchCore
import Synchronization

/// The runs of the agent in the black box: it marks starts and ends, and knows how the former ones ended.
package final class RunRecorder: Sendable {
    private let box: BlackBoxRecorder
    private let machine: @Sendable () -> RunStart
    /// The ends of former runs; `nil` until somebody asked.
    private let known: Mutex<[RunEnd]?>

    /// - Parameters:
    ///   - machine: Reads the facts about the machine.
    ///   - previous: The recorder that a reload continues.
    init(
        _ box: BlackBoxRecorder,
        machine: @escaping @Sendable () -> RunStart = { .current },
        after previous: RunRecorder?
    ) {
        (self.box, self.machine) = (box, machine)
        known = Mutex(previous?.known.withLock { $0 })
    }

    /// Marks the start of a run.
    ///
    /// - Returns: The end of the former run, if it could not record that itself.
    func begin(now: Timestamp) -> RunEnd? {
        let marks = box.formerMarks()
        let start = machine()
        let ends = RunEndDecision.ends(marks, before: (start, now))
        let isNew = ends.count > RunEndDecision.ends(marks).count
        known.withLock { $0 = ends }
        box.add(.start, at: now, start.text)
        return isNew ? ends.last : nil
    }

    /// Marks that the agent was asked to stop.
    func stopping(now: Timestamp) { box.add(.stopping, at: now) }

    /// Marks the end of the run.
    func end(_ cause: RunEndCause, now: Timestamp) { box.add(.end, at: now, cause.rawValue) }

    /// The ends of former runs, the oldest first: the last hundreds.
    ///
    /// An agent that does not run looks at the file, and counts the last run as ended.
    package func ends(now: Timestamp) -> [RunEnd] {
        if let ends = known.withLock({ $0 }) { return ends }
        let content = box.storedContent()
        let ends = RunEndDecision.ends(content.marks, before: (machine(), content.endOfRecords ?? now))
        return known.withLock { known in
            if known == nil { known = ends }
            return known ?? []
        }
    }
}

extension RunStart {
    /// The machine now.
    package static var current: RunStart {
        let boot = text(of: "/proc/sys/kernel/random/boot_id").split(separator: "\n").first ?? ""
        let kills = text(of: "/proc/vmstat").split(separator: "\n").first { $0.hasPrefix("oom_kill ") }
        return RunStart(boot: String(boot), memoryKills: kills.flatMap { Int($0.dropFirst(9)) } ?? 0)
    }

    private static func text(of path: String) -> String {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return "" }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: 65_536)
        let count = read(descriptor, &bytes, bytes.count)
        return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
    }
}
