/// The cause for which a run of the agent ended. The raw values are stored and shown.
package enum RunEndCause: String, Sendable, Codable, CaseIterable {
    /// It was asked to stop, by SIGTERM, SIGINT or its host program, and did.
    case stopped
    /// It was asked to stop, and was killed or ended itself before all work was done.
    case stoppedLate = "stopped_late"
    /// A part of it failed, so it ended itself.
    case failed
    /// A signal of a programming error or of the system ended it.
    case crashed
    /// The service manager ended it, because it showed no progress.
    case watchdog
    /// It was killed, and the kernel has killed a program of its own cgroup for lack of memory since it started.
    case outOfMemory = "out_of_memory"
    /// Something else killed it, and nothing shows that it was for lack of memory.
    case killed
    /// The machine restarted or lost power.
    case machineRestarted = "machine_restarted"

    /// Whether somebody asked the agent to stop.
    package var isAskedFor: Bool { self == .stopped || self == .stoppedLate }

    /// The cause in words, after "It".
    package var phrase: String {
        switch self {
        case .stopped: "was asked to stop"
        case .stoppedLate: "was asked to stop, and did not end in time"
        case .failed: "failed"
        case .crashed: "crashed"
        case .watchdog: "showed no progress, and the service manager ended it"
        case .outOfMemory: "was killed, probably for lack of memory"
        case .killed: "was killed from outside"
        case .machineRestarted: "ended with the machine, which restarted or lost power"
        }
    }
}

package struct RunEnd: Sendable, Hashable {
    package let startedAt: Timestamp
    /// The time of the end. If nothing recorded it, the next start, or the time just after the last sign of life if there is
    /// none.
    package let at: Timestamp
    package let cause: RunEndCause
    /// The signal of a crash.
    package var signal: Int?
    /// The last sign of life, if nothing recorded the end; `nil` if ``at`` is exact.
    package var after: Timestamp?
    /// The next start, if nothing recorded the end; `nil` for a run without one.
    package var before: Timestamp?
    /// Whether the run recorded its end itself.
    package var isRecorded = false

    package init(startedAt: Timestamp, at: Timestamp, _ cause: RunEndCause, signal: Int? = nil) {
        (self.startedAt, self.at, self.cause, self.signal) = (startedAt, at, cause, signal)
    }

    /// The cause in a phrase, with the signal's name.
    package var phrase: String { cause.phrase + (signalName.map { " (\($0))" } ?? "") }

    /// The cause and the time in a sentence after "It", without a full stop. An exact time is left out.
    package var account: String {
        guard let after else { return phrase }
        let time = before.map { "between \(after.iso8601) and \($0.iso8601)" } ?? "after \(after.iso8601)"
        return "\(phrase), \(time)"
    }

    package var signalName: String? { signal.map(Self.name) }

    private static func name(ofSignal number: Int) -> String {
        let names = [4: "SIGILL", 5: "SIGTRAP", 6: "SIGABRT", 7: "SIGBUS", 8: "SIGFPE", 11: "SIGSEGV"]
        return names[number] ?? "signal \(number)"
    }
}

/// The facts about the machine at the start of a run. A later start compares its own with them.
package struct RunStart: Sendable, Hashable {
    /// Changes with each start of the machine; empty if unknown. The first 12 characters count.
    package let boot: String
    /// The cgroup of the agent; `nil` if it counts no kills.
    package let cgroup: ControlGroup?
    /// The last sign of life of the former run; `nil` if that recorded its end.
    package var formerSign: Timestamp?

    package init(boot: String, cgroup: ControlGroup? = nil) {
        self.boot = String(boot.filter { $0 != "-" }.prefix(Self.bootLength))
        self.cgroup = cgroup
    }

    /// The text in the black box. With it, a mark fills one slot.
    package var text: String {
        // A boot that is unknown must not make the name of the cgroup one.
        let name = boot.count == Self.bootLength ? cgroup?.name ?? "" : ""
        return "\(cgroup?.memoryKills ?? 0) \(boot)\(name)"
            + (formerSign.map { " " + String($0.milliseconds, radix: 36) } ?? "")
    }

    /// `nil` for a text of something else.
    ///
    /// Earlier versions wrote the kills of the whole machine, and four more characters of the boot, which name no cgroup. So
    /// nothing is concluded from their count.
    init?(text: String) {
        let parts = text.split(separator: " ", maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count >= 2, let kills = Int(parts[0]) else { return nil }
        let name = String(parts[1].dropFirst(Self.bootLength))
        let cgroup = ControlGroup.isName(name) ? ControlGroup(name: name, memoryKills: kills) : nil
        self.init(boot: String(parts[1]), cgroup: cgroup)
        if parts.count == 3 { formerSign = Int64(parts[2], radix: 36).map(Timestamp.init(milliseconds:)) }
    }

    /// Whether the kernel has killed a program of the agent's cgroup for lack of memory between this start and a later one.
    /// A new cgroup counts from 0, so it shows nothing.
    fileprivate func hasMemoryKill(before next: RunStart) -> Bool {
        guard let cgroup, let later = next.cgroup, cgroup.name == later.name else { return false }
        return later.memoryKills > cgroup.memoryKills
    }

    private static let bootLength = 12
}

/// A cgroup of the kernel, as systemd and containers give each service one, and its count of programs killed for lack of
/// memory.
package struct ControlGroup: Sendable, Hashable {
    /// A letter that is no hexadecimal digit, and the last digits of the cgroup's number. The kernel gives no number twice
    /// until it starts again.
    package let name: String
    /// The number of its programs that were killed for lack of memory, whether its limit or the machine's was reached.
    package let memoryKills: Int

    init(name: String, memoryKills: Int) { (self.name, self.memoryKills) = (name, memoryKills) }

    /// - Parameters:
    ///   - number: The inode of the cgroup's folder.
    ///   - events: The content of the file `memory.events`.
    /// - Returns: `nil` if the content has no count.
    package init?(number: UInt64, events: String) {
        let counts = events.split(separator: "\n").map { $0.split(separator: " ") }
        guard let count = counts.first(where: { $0.first == "oom_kill" }), count.count == 2, let kills = Int(count[1])
        else { return nil }
        let digits = String(number % 46_656, radix: 36)
        self.init(name: "g" + String(repeating: "0", count: 3 - digits.count) + digits, memoryKills: kills)
    }

    static func isName(_ text: String) -> Bool { text.count == 4 && text.hasPrefix("g") }

    /// Returns the folder of a process' cgroup.
    ///
    /// - Parameters:
    ///   - groups: The content of `/proc/self/cgroup`.
    ///   - mounts: The content of `/proc/self/mountinfo`.
    /// - Returns: `nil` without a mounted hierarchy of version 2. The others count no kills for the whole machine apart.
    package static func folder(groups: String, mounts: String) -> String? {
        guard let group = groups.split(separator: "\n").first(where: { $0.hasPrefix("0::/") })?.dropFirst(3) else {
            return nil
        }
        for mount in mounts.split(separator: "\n") {
            let fields = mount.split(separator: " ")
            guard let end = fields.firstIndex(of: "-"), end + 1 < fields.count, fields[end + 1] == "cgroup2", end > 4
            else { continue }
            // A container can see a part of the hierarchy.
            let (root, point) = (fields[3] == "/" ? "" : fields[3], fields[4])
            guard group == root || group.hasPrefix(root + "/") else { continue }
            return point + String(group.dropFirst(root.count))
        }
        return nil
    }
}

/// The decision how runs ended.
extension RunEnd {
    /// The event that ends the last run, if that has no mark of an end: a start that has no mark yet, or a look at an agent
    /// that does not run. It has the facts about the machine, with the run's last sign, and the time of the start, `nil` for a look.
    package typealias Next = (start: RunStart, at: Timestamp?)

    /// The ends of runs, the oldest first.
    ///
    /// - Parameters:
    ///   - marks: The marks of the black box in their order.
    ///   - next: What ends the last run; `nil` while that continues.
    package static func ends(_ marks: [BlackBoxRecord], before next: Next? = nil) -> [RunEnd] {
        var ends: [RunEnd] = []
        var run: Run?
        for mark in marks {
            switch mark.kind {
            case .start:
                guard let start = RunStart(text: mark.text) else { continue }
                if let end = run?.end(before: (start, mark.at)) { ends.append(end) }
                run = Run(start: start, startedAt: mark.at, lastMark: mark.at)
            case .stopping:
                run?.isAsked = true
                run?.lastMark = mark.at
            case .crash: run?.crash = mark
            case .end:
                guard let former = run else { continue }
                let cause = RunEndCause(rawValue: mark.text) ?? .stopped
                var end = RunEnd(startedAt: former.startedAt, at: mark.at, cause)
                end.isRecorded = true
                ends.append(end)
                run = nil
            case .line: break
            }
        }
        if let next, let end = run?.end(before: next) { ends.append(end) }
        return ends
    }

    /// The ends nobody asked for within a time up to `now`, the oldest first.
    package static func unasked(_ ends: [RunEnd], within age: Duration, now: Timestamp) -> [RunEnd] {
        ends.filter { !$0.cause.isAskedFor && $0.at > now - age && $0.at <= now }
    }

    private struct Run {
        let start: RunStart
        let startedAt: Timestamp
        var lastMark: Timestamp
        var isAsked = false
        var crash: BlackBoxRecord?

        /// The end of a run that recorded none.
        func end(before next: Next) -> RunEnd {
            if let crash {
                let words = crash.text.split(separator: " ")
                let cause = words.first.flatMap { RunEndCause(rawValue: String($0)) } ?? .crashed
                return RunEnd(
                    startedAt: startedAt,
                    at: crash.at,
                    cause,
                    signal: words.dropFirst().first.flatMap { Int($0) }
                )
            }
            let cause: RunEndCause =
                if isAsked {
                    .stoppedLate
                } else if !start.boot.isEmpty, !next.start.boot.isEmpty, start.boot != next.start.boot {
                    .machineRestarted
                } else if start.hasMemoryKill(before: next.start) {
                    .outOfMemory
                } else {
                    .killed
                }
            let sign = sign(before: next)
            var end = RunEnd(startedAt: startedAt, at: next.at ?? sign + .milliseconds(1), cause)
            (end.after, end.before) = (sign, next.at)
            return end
        }

        /// The last sign of life. One outside the run's time is that of another run, or of a clock that was set.
        private func sign(before next: Next) -> Timestamp {
            guard let sign = next.start.formerSign, sign >= lastMark, next.at.map({ sign <= $0 }) ?? true else {
                return lastMark
            }
            return sign
        }
    }
}

/// A kind of journal entry. The raw values are stored and shown.
package enum JournalKind: String, Sendable, Codable, CaseIterable {
    /// An operator changed something.
    case action
    /// A configuration was reloaded or refused.
    case reload
    /// A run of the agent ended.
    case runEnd = "run_end"
}
