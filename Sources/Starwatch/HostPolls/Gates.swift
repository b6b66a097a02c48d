import StarwatchCore
import StarwatchStore
import StarwatchTransport
import Synchronization

/// The ways to all servers that a host application asks, one for each origin.
final class Gates: Sendable {
    /// The agent whose server, clock and limits are shared; `nil`: there is none.
    private let agent: APICaller?
    private let store: Store?
    private let requestsPerMinute: Int
    private let time: any TimeSource
    private let watch: ClockWatch
    private let others = Mutex<[String: OriginGate]>([:])

    init(agent: APICaller?, store: Store?, requestsPerMinute: Int, time: any TimeSource) {
        self.agent = agent
        self.store = store
        self.requestsPerMinute = requestsPerMinute
        self.time = time
        watch = ClockWatch(time: time)
    }

    func gate(to origin: String, for account: DID?) async -> any RequestGate {
        if let agent, agent.gate.server == origin { return AgentGate(caller: agent, account: account) }
        return others.withLock { others in
            if let gate = others[origin] { return gate }
            let gate = OriginGate(origin: origin, requestsPerMinute: requestsPerMinute, store: store)
            others[origin] = gate
            return gate
        }
    }

    /// The server's time, as well as it is known.
    func serverTime(of origin: String) -> Timestamp {
        if let agent, agent.gate.server == origin { return agent.clock.now }
        return time.now
    }

    /// Moves every wait along with a local clock that was set since the last look.
    func lookAtClock() async {
        for event in watch.look() where event.jump != .suspend {
            let jump = event.jump == .forward ? event.size : .zero - event.size
            for gate in others.withLock({ Array($0.values) }) { await gate.shift(by: jump, now: time.now) }
        }
    }

    /// Learns from an answer of the agent's own server what time it is there.
    func observeClock(of origin: String, _ headers: HTTPHeaders, _ measurements: HTTPMeasurements) {
        guard let agent, agent.gate.server == origin else { return }
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
