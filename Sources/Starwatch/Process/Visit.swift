import ServiceLifecycle
import StarwatchCore
import StarwatchPolling
import StarwatchStore
import StarwatchTransport
import Synchronization

/// One account at work. Its parts work side by side, each when it is due or woken, so that a slow sink holds up no poll.
///
/// The visit of a leased account ends when nothing is due. That of a process's only account lasts as long as the process.
final class Visit: Sendable {
    /// The times of work that a visit leaves to the next one of its account: of retries of polls, and of other parts.
    typealias Memory = [VisitPart.Name: Timestamp]

    /// The result of a visit.
    struct End: Sendable {
        /// The time of the next work by the local clock; `nil` if only a command can bring some.
        var next: Timestamp?
        var memory: Memory = [:]
        var asked = CycleTimes()
    }

    /// The state of a part.
    private struct Part {
        var due: Timestamp?
        var isAtWork = false
        var turns = 0
    }

    /// The largest number of turns of a part of a leased account, so that one with very many changes does not keep others
    /// waiting.
    private static let longest = 20

    /// The work that may begin.
    enum Permission: Sendable {
        case all
        /// The lease is lost, or ends before a request could.
        case noPolls
        /// None, because the process stops. What is stored is delivered and acknowledged.
        case stop
    }

    private let visited: AccountRuntime
    private let lease: AccountLease?
    private let memory: Memory
    private let permission: @Sendable () -> Permission
    /// Called once, when the polls have ended, while the delivery can take minutes.
    private let hasPolled: @Sendable () -> Void
    private let polls: [ScheduledPoll]
    private let parts: [VisitPart]
    private let state: Mutex<[Part]>
    /// Whether the polls have ended for the first time.
    private let havePolled = Atomic(false)

    /// - Parameters:
    ///   - lease: The lease of the account; `nil` for the only account of the process.
    ///   - memory: The work that the last visit left.
    ///   - polls: Those of the work; `nil` for all.
    ///   - parts: The other parts of the work; `nil` for all.
    init(
        of visited: AccountRuntime,
        _ lease: AccountLease? = nil,
        memory: Memory = [:],
        polls: [Poll]? = nil,
        parts: [VisitPart]? = nil,
        permission: @escaping @Sendable () -> Permission,
        hasPolled: @escaping @Sendable () -> Void = {}
    ) {
        (self.visited, self.lease, self.memory) = (visited, lease, memory)
        (self.permission, self.hasPolled) = (permission, hasPolled)
        self.polls = (polls ?? visited.polls).map {
            ScheduledPoll($0, of: visited.pollService, isLasting: lease == nil, extra: memory[.poll($0.name)])
        }
        self.parts = self.polls.map(\.part) + (parts ?? visited.parts)
        state = Mutex(Array(repeating: Part(), count: self.parts.count))
    }

    private var time: any TimeSource { visited.process.environment.time }

    func run() async -> End {
        let pause = lease == nil ? nil : await pauseOfServer()
        let now = time.now
        state.withLock { state in
            for (index, part) in parts.enumerated() { state[index].due = firstDue(of: part.name, pause, now: now) }
        }
        await withDiscardingTaskGroup { cancellable in
            await withDiscardingTaskGroup { finishing in
                while permission() != .stop, !Task.isCancelled {
                    start(in: &cancellable, &finishing)
                    guard let rest = rest() else { return }
                    await wait(rest)
                }
                cancellable.cancelAll()
                await stop(&cancellable, &finishing)
            }
        }
        // Also of a visit that began nothing.
        notePolls()
        if let lease {
            await visited.account.api.endVisit(of: lease.account, isInterrupted: !lease.wasReleased)
        }
        return end
    }

    /// Ends the parts in their order. What the polls have stored is delivered and acknowledged.
    private func stop(_ cancellable: inout DiscardingTaskGroup, _ finishing: inout DiscardingTaskGroup) async {
        for (index, part) in parts.enumerated() {
            await end(of: index, &cancellable, &finishing)
            if let cancel = part.cancel {
                // Fetches and cycles that no turn waits for.
                await cancel()
            } else {
                let now = time.now
                state.withLock { $0[index].due = now }
                start(in: &cancellable, &finishing)
                await end(of: index, &cancellable, &finishing)
            }
        }
    }

    /// Waits until a part is not at work. The others that may still begin go on meanwhile.
    private func end(
        of index: Int,
        _ cancellable: inout DiscardingTaskGroup,
        _ finishing: inout DiscardingTaskGroup
    ) async {
        while state.withLock({ $0[index].isAtWork }), !Task.isCancelled {
            await visited.wakes.visit.wait()
            start(in: &cancellable, &finishing)
        }
    }

    /// The time at which the server can be asked again; `nil` if it can be asked now. Before it no poll can run, for no account.
    private func pauseOfServer() async -> Timestamp? {
        let now = time.now
        guard case .waits(let until) = try? await visited.account.gate.readiness(now: now) else { return nil }
        return until ?? now + ExtraRun.afterNetworkFailure
    }

    private func firstDue(of part: VisitPart.Name, _ pause: Timestamp?, now: Timestamp) -> Timestamp? {
        guard let lease else { return now }
        // Most visits find nothing, and each of these parts would read the database.
        let mustLook = lease.hasOpenRows || !lease.wasReleased
        switch part {
        case .poll: return pause ?? now
        case .canary, .callbacks: return now
        case .digests:
            // A later time means that the clock was set back.
            return memory[part].flatMap { mustLook || $0 > now + DigestService.topUp ? nil : $0 } ?? now
        case .delivery, .acknowledgement:
            let looksAlways = visited.options.delivery.noticesStaleness(forMany: true)
            return mustLook || memory[part] != nil || looksAlways ? now : nil
        }
    }

    // MARK: - Parts

    /// Starts the parts that are due or woken.
    private func start(in cancellable: inout DiscardingTaskGroup, _ finishing: inout DiscardingTaskGroup) {
        let (now, permission) = (time.now, permission())
        let (due, polls) = state.withLock { state -> ([Int], Bool) in
            let due = parts.indices.filter { index in
                guard !state[index].isAtWork else { return false }
                if parts[index].wake?.take() ?? false { state[index].due = now }
                guard isDue(state[index].due, now: now), canStart(index, state[index], permission) else { return false }
                state[index] = Part(due: nil, isAtWork: true, turns: state[index].turns + 1)
                return true
            }
            return (due, parts.indices.contains { state[$0].isAtWork && (parts[$0].isPoll || parts[$0].polls) })
        }
        for index in due {
            let part = parts[index]
            func turn() async { ended(index, next: await part.turn()) }
            if part.cancel == nil {
                finishing.addTask(executorPreference: part.executor) { await turn() }
            } else {
                cancellable.addTask(executorPreference: part.executor) { await turn() }
            }
        }
        guard !polls else { return }
        notePolls()
    }

    /// Notes that the polls have ended.
    private func notePolls() { if !havePolled.exchange(true, ordering: .relaxed) { hasPolled() } }

    /// A visit that lasts looks at its parts at each ``ClockLook``, so a later time means that the clock was set back.
    private func isDue(_ due: Timestamp?, now: Timestamp) -> Bool {
        due.map { $0 <= now || lease == nil && $0 > now + ClockLook.interval } ?? false
    }

    private func canStart(_ index: Int, _ part: Part, _ permission: Permission) -> Bool {
        if permission == .stop, parts[index].cancel != nil { return false }
        guard lease != nil else { return true }
        guard part.turns < Self.longest else { return false }
        // The visit has given its place to another that polls.
        return !parts[index].isPoll || permission == .all && !havePolled.load(ordering: .relaxed)
    }

    private func ended(_ index: Int, next: Timestamp?) {
        let look = ClockLook.next(after: time.now)
        state.withLock { state in
            state[index].isAtWork = false
            state[index].due = lease == nil ? min(next ?? look, look) : next
        }
        visited.wakes.visit.raise()
    }

    /// The time until the next work, unless something wakes the visit before.
    private enum Rest {
        case until(Timestamp)
        /// The end of a part that is at work.
        case parts
    }

    /// The rest of a leased account's visit ends with a part. What is due later is for the next visit.
    ///
    /// - Returns: `nil` if the visit ends.
    private func rest() -> Rest? {
        let (now, permission) = (time.now, permission())
        return state.withLock { state in
            let isAtWork = state.contains(where: \.isAtWork)
            if isAtWork, lease != nil { return .parts }
            let startable = parts.indices.filter { !state[$0].isAtWork && canStart($0, state[$0], permission) }
            guard let next = startable.compactMap({ state[$0].due }).min() else { return isAtWork ? .parts : nil }
            return lease == nil || next <= now ? .until(min(next, ClockLook.next(after: now))) : nil
        }
    }

    private func wait(_ rest: Rest) async {
        switch rest {
        case .parts: await visited.wakes.visit.wait()
        case .until(let end):
            let now = time.now
            if end > now { await visited.wakes.visit.wait(for: end - now, on: time) }
        }
    }

    private var end: End {
        var end = End()
        let now = time.now
        // A part can have been woken after the last look.
        let dues = zip(parts, state.withLock { $0.map(\.due) }).map { part, due -> Timestamp? in
            part.wake?.take() ?? false ? now : due
        }
        end.next = dues.compactMap(\.self).min()
        for (part, due) in zip(parts, dues) where !part.isPoll { end.memory[part.name] = due }
        for poll in polls { end.memory[.poll(poll.poll.name)] = poll.extra }
        let asked = polls.map(\.asked)
        end.asked.attempted = asked.compactMap(\.attempted).max()
        end.asked.succeeded = asked.compactMap(\.succeeded).max()
        return end
    }
}

/// The visit of the only account of a process.
final class SoleVisit: Service {
    private let visited: AccountRuntime
    private let polls: [Poll]?
    private let parts: [VisitPart]?
    private let isStopping = Atomic(false)

    /// - Parameters:
    ///   - polls: Those of the work; `nil` for all.
    ///   - parts: The other parts of the work; `nil` for all.
    init(of visited: AccountRuntime, polls: [Poll]? = nil, parts: [VisitPart]? = nil) {
        (self.visited, self.polls, self.parts) = (visited, polls, parts)
    }

    /// Works until the service is told to stop. It then cancels the requests to the server, and delivers and acknowledges what
    /// is stored.
    func run() async throws {
        let visit = Visit(of: visited, polls: polls, parts: parts) {
            self.isStopping.load(ordering: .relaxed) ? .stop : .all
        }
        await withGracefulShutdownHandler {
            _ = await withTaskExecutorPreference(visited.pollService.executor) { await visit.run() }
        } onGracefulShutdown: {
            self.isStopping.store(true, ordering: .relaxed)
            self.visited.wakes.visit.raise()
        }
    }
}
