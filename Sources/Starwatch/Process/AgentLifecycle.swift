import Logging
import ServiceLifecycle
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

    /// Begins to look for problems. A look takes several steps, and others can overtake it.
    func beginLook() -> ProblemHistory.Look { history.withLock { $0.beginLook() } }

    /// Logs which problems have begun and ended since the last call. An agent that does not run logs none: a command that
    /// asks for its status would announce each anew.
    ///
    /// - Parameter isComplete: `false` if others can exist that could not be looked for.
    /// - Returns: The present problems, each with its start.
    func follow(
        _ problems: [Problem],
        of look: ProblemHistory.Look,
        isComplete: Bool,
        now: Timestamp,
        logger: Logger
    ) -> [Problem] {
        // Remembered here, they would never be announced.
        guard phase != .starting else { return history.withLock { $0.dated(problems, now: now) } }
        let (dated, change) = history.withLock { $0.follow(problems, of: look, isComplete: isComplete, now: now) }
        for problem in change.began { logger.log(.problemBegan, problem.fields) }
        for problem in change.ended { logger.log(.problemEnded, problem.fields(endedAt: now)) }
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

/// Logs the address of the metrics page as soon as it is known. Tells the supervisor that the agent is ready and,
/// later, that it drains. Ends the run when the agent must stop.
///
/// It is the last service, so graceful shutdown reaches it first.
struct ReadinessService: Service {
    /// Returns the address of the metrics page, with the port that the system chose for port 0; `nil` if there is no
    /// page.
    let address: @Sendable () async -> String?
    let lifecycle: AgentLifecycle
    let supervisor: Supervisor
    /// Returns whether another run follows this one.
    let isReloading: @Sendable () -> Bool
    /// Called when the agent begins to stop for good.
    var onStop: @Sendable () -> Void = {}
    let logger: Logger

    func run() async throws {
        await cancelWhenGracefulShutdown {
            if let address = await address() {
                logger.log(.httpListening, [.address: "\(address)"])
                supervisor.ready("Running; metrics on \(address).")
            }
            _ = await lifecycle.stopping.value()
        }
        lifecycle.drain()
        guard !isReloading() else { return }
        onStop()
        supervisor.stopping()
    }
}

extension Problem {
    /// The fields of a log event about it.
    fileprivate var fields: AgentEvent.Fields {
        var fields: AgentEvent.Fields = [.problem: "\(kind.rawValue)"]
        if let subject {
            switch kind.topic {
            case .agent: break
            case .poll: fields[.poll] = "\(subject)"
            case .sink: fields[.sink] = "\(subject)"
            case .port: fields[.port] = "\(subject)"
            case .certificate:
                switch CertificateOwner(word: subject) {
                case .server: break
                case .port(let name): fields[.port] = "\(name)"
                case .sink(let name): fields[.sink] = "\(name)"
                }
            }
        }
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

/// Observations of this process that decide about its health. They outlast a reload.
final class HealthMemory: Sendable {
    private struct Seen {
        var lastScrape: Timestamp?
        var rhythm = ScrapeRhythm()
        var answers = AnswerWindow(bounds: Buckets.latency)
        /// The last step of the local clock, and when it was noticed by the clock that nobody sets.
        var jump: (event: ClockJumpDetector.Event, at: Duration)?
        var refusedReload: RefusedReload?
        var settledBytes: Int?
    }

    /// The time after the start at which caches are filled, so that later growth says something.
    static let settlesAfter = Duration.seconds(600)

    private let seen = Mutex(Seen())

    /// Time of the last request of a scraper; `nil` before the first.
    var lastScrape: Timestamp? { seen.withLock(\.lastScrape) }

    /// The refusal of the last reload; `nil` if it succeeded, or before the first one.
    var refusedReload: RefusedReload? {
        get { seen.withLock(\.refusedReload) }
        set { seen.withLock { $0.refusedReload = newValue } }
    }

    /// - Parameter monotonic: The time by the monotonic clock.
    func noteScrape(now: Timestamp, at monotonic: Duration) {
        seen.withLock { seen in
            seen.lastScrape = now
            seen.rhythm.scraped(at: monotonic)
        }
    }

    /// The time since the last scrape, if scrapes have ceased; `nil` if they go on, or never had a rhythm.
    func scrapeSilence(at monotonic: Duration) -> Duration? { seen.withLock { $0.rhythm.silence(at: monotonic) } }

    /// Takes the totals of the server's answers, and returns those of late.
    func answers(_ totals: AnswerWindow.Totals, at monotonic: Duration) -> AnswerWindow.Summary {
        seen.withLock { seen in
            seen.answers.observe(totals, at: monotonic)
            return seen.answers.summary
        }
    }

    /// Takes the resident memory, and returns the first one that was seen after ``settlesAfter``; `nil` before.
    ///
    /// - Parameter uptime: The time since the start of the agent.
    func settledBytes(_ bytes: Int, uptime: Duration) -> Int? {
        seen.withLock { seen in
            if seen.settledBytes == nil, uptime >= Self.settlesAfter { seen.settledBytes = bytes }
            return seen.settledBytes
        }
    }

    /// Remembers a step of the local clock. A suspended machine is none.
    func noteJump(_ event: ClockJumpDetector.Event, at boottime: Duration) {
        guard event.jump != .suspend else { return }
        seen.withLock { $0.jump = (event, boottime) }
    }

    /// The last step of the local clock; `nil` without one.
    func jump(at boottime: Duration) -> HealthFacts.Jump? {
        seen.withLock { seen in
            seen.jump.map { HealthFacts.Jump($0.event.jump, size: $0.event.size, age: boottime - $0.at) }
        }
    }
}
