import Logging
import StarwatchCore
import StarwatchPolling
import StarwatchTelemetry
import Synchronization

/// Phase of the agent's life, for `/-/ready`.
package final class AgentLifecycle: Sendable {
    package enum Phase: UInt8, AtomicRepresentable, Sendable { case starting, running, draining }

    /// Whether a reload continues an agent. The log then shows neither its end nor a start.
    let isContinued: Bool
    /// Ends when ``Agent/stop()`` is called.
    let stopping = Promise<Void>()
    private let state = Atomic(Phase.starting)
    /// The observations that decide about health.
    let seen: HealthMemory
    private let embedded = Atomic(false)
    private let refused = Mutex<Set<ServedPort>>([])
    private let history: Mutex<ProblemHistory>

    /// - Parameter previous: The life that a reload continues.
    init(after previous: AgentLifecycle?) {
        isContinued = previous != nil
        seen = previous?.seen ?? HealthMemory()
        history = Mutex(previous?.history.withLock { $0 } ?? ProblemHistory())
    }

    /// The problems with their starts, as far as the last look has seen them.
    func dated(_ problems: [Problem], now: Timestamp) -> [Problem] {
        history.withLock { $0.dated(problems, now: now) }
    }

    /// Logs which problems have begun and ended since the last call. An agent that does not run logs none.
    ///
    /// - Parameter isComplete: `false` if others can exist that could not be looked for.
    /// - Returns: The present problems, each with its start.
    func follow(
        _ problems: [Problem],
        isComplete: Bool,
        now: Timestamp,
        logger: Logger
    ) -> [Problem] {
        // Remembered here, they would never be announced.
        guard phase != .starting else { return dated(problems, now: now) }
        let (dated, began, ended) = history.withLock { $0.follow(problems, isComplete: isComplete, now: now) }
        for problem in began { logger.log(.problemBegan, problem.fields) }
        for problem in ended { logger.log(.problemEnded, problem.fields(endedAt: now)) }
        return dated
    }

    package var phase: Phase { state.load(ordering: .relaxed) }
    package func start() { state.store(.running, ordering: .relaxed) }
    /// Whether the agent is part of another program, which can have work for it that the configuration does not show.
    var isEmbedded: Bool {
        get { embedded.load(ordering: .relaxed) }
        set { embedded.store(newValue, ordering: .relaxed) }
    }

    /// The ports whose last web configuration was refused, so that a former one is used.
    var refusedPorts: Set<ServedPort> { refused.withLock { $0 } }

    func noteWebConfiguration(of port: ServedPort, isRefused: Bool) {
        refused.withLock { ports in
            if isRefused { ports.insert(port) } else { ports.remove(port) }
        }
    }

    package func drain() { state.store(.draining, ordering: .relaxed) }
}

extension Problem {
    /// The fields of a log event about it.
    fileprivate var fields: AgentEvent.Fields {
        var fields: AgentEvent.Fields = [.problem: "\(kind.rawValue)"]
        fields[.poll] = place.poll.map { "\($0)" }
        fields[.sink] = place.sink.map { "\($0)" }
        fields[.port] = place.port.map { "\($0)" }
        // It can be older than the line: a poll is stale from a time on, and a look finds it later.
        if let since { fields[.since] = "\(since.iso8601)" }
        return fields
    }

    /// The same at its end, with the time that it lasted.
    fileprivate func fields(endedAt now: Timestamp) -> AgentEvent.Fields {
        var fields = fields
        if let since { fields[.durationMilliseconds] = .number((max(now, since) - since).wholeMilliseconds) }
        return fields
    }
}
