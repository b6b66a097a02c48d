import StarwatchCore
import StarwatchStore
import StarwatchTransport
import Synchronization

/// The ways to all servers that a host application or a digest asks, one for each origin.
final class Gates: Sendable {
    /// The agent whose server, clock and limits are shared; `nil`: there is none.
    private let agent: APICaller?
    private let agentOrigin: String?
    private let store: Store?
    private let requestsPerMinute: Int
    private let time: any TimeSource
    private let watch: ClockWatch
    private let state = Mutex(State())

    private struct State {
        var others: [String: OriginGate] = [:]
        /// How far the clock was set in all.
        var jumps = Duration.zero
    }

    init(agent: APICaller?, store: Store?, requestsPerMinute: Int, time: any TimeSource) {
        self.agent = agent
        agentOrigin = (agent?.gate.server).map(ServerURL.withoutDefaultPort)
        self.store = store
        self.requestsPerMinute = requestsPerMinute
        self.time = time
        watch = ClockWatch(time: time)
    }

    func gate(to origin: String, for account: DID?) -> any RequestGate {
        if let agent = agent(of: origin) { return AgentGate(caller: agent, account: account) }
        return state.withLock { state in
            if let gate = state.others[origin] { return gate }
            let gate = OriginGate(
                origin: origin,
                requestsPerMinute: requestsPerMinute,
                store: store,
                jumps: state.jumps
            )
            state.others[origin] = gate
            return gate
        }
    }

    /// The server's time, as well as it is known.
    func serverTime(of origin: String) -> Timestamp {
        agent(of: origin)?.clock.now ?? time.now
    }

    /// The agent, where the server is its own: `https://host:443` is `https://host`.
    private func agent(of origin: String) -> APICaller? {
        ServerURL.withoutDefaultPort(origin) == agentOrigin ? agent : nil
    }

    /// Moves every wait along with a local clock that was set since the last look. Before each use of a gate, so that no
    /// wait is counted from a clock that was set before it began.
    func lookAtClock() async {
        await agent?.lookAtClock()
        for event in watch.look() where event.jump != .suspend {
            let jump = event.jump == .forward ? event.size : .zero - event.size
            let gates = state.withLock { state in
                state.jumps += jump
                return Array(state.others.values)
            }
            // None waits for what the store does for another.
            await withTaskGroup { group in
                for gate in gates { group.addTask { await gate.shift(by: jump) } }
            }
        }
    }

    /// Learns from an answer the server's time and what it says of its limits.
    func learn(from exchange: HTTPExchange, of origin: String, at gate: any RequestGate) async {
        guard case .success(let response) = exchange.result else { return }
        let headers = response.headers
        observeClock(of: origin, headers, exchange.measurements)
        // A refusal says itself how long to wait; its budget would only guess.
        guard response.status != 429, response.status != 503 else { return }
        await lookAtClock()
        let now = time.now
        if let budget = ServerBudget.read(
            remaining: headers.rateLimit("Remaining"),
            reset: headers.rateLimit("Reset"),
            rateLimit: headers["RateLimit"],
            answerDate: headers["Date"].flatMap { HTTPDate.parse($0, now: now) },
            now: now
        ) {
            await gate.observe(budget, now: now)
        }
    }

    /// Learns from an answer of the agent's own server what time it is there.
    private func observeClock(of origin: String, _ headers: HTTPHeaders, _ measurements: HTTPMeasurements) {
        guard let agent = agent(of: origin) else { return }
        let wall = measurements.receivedAt.wall - measurements.sentAt.wall
        let roundTrip = measurements.receivedAt.monotonic - measurements.sentAt.monotonic
        // The machine slept, or the clock was set, between the two.
        guard wall - roundTrip < .seconds(1), roundTrip - wall < .seconds(1) else { return }
        agent.clock.observe(
            serverTime: headers["X-Server-Time"],
            date: headers["Date"],
            age: headers["Age"],
            sentAt: measurements.sentAt.wall,
            roundTrip: roundTrip
        )
    }
}
