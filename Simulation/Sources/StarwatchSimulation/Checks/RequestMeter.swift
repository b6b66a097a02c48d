/// Checks the rate limits and `Retry-After` by the simulation's true time.
final class RequestMeter: Sendable {
    private struct Account {
        var requests: [Int64] = []
        var acknowledged: [(at: Int64, count: Int)] = []
    }

    private struct State {
        var accounts: [String: Account] = [:]
        var holdUntil: Int64 = 0
        var holdKnownAt: Int64 = 0
        /// `true` once the agent has stored the wait.
        var isHoldStored = false
    }

    /// Resolution of the agent's clocks: one millisecond, in microseconds.
    private static let unit: Int64 = 1000

    private let state = Confined(State())
    private let settings: Settings
    private let clock: SimulatedClock
    private let violations: Violations

    init(settings: Settings, clock: SimulatedClock, violations: Violations) {
        self.settings = settings
        self.clock = clock
        self.violations = violations
    }

    /// Checks a request as it is sent.
    func sent(by account: String, acknowledging count: Int) {
        let now = clock.boot
        if now < state.value.holdUntil - Self.unit, now > state.value.holdKnownAt {
            let early = Double(state.value.holdUntil - now) / 1e6
            violations.record(.retryAfter, "a request came \(early) s before the server allowed it")
        }
        var entry = state.value.accounts[account] ?? Account()
        entry.requests.removeAll { $0 <= now - 60_000_000 }
        entry.acknowledged.removeAll { $0.at <= now - 60_000_000 }
        entry.requests.append(now)
        if count > 0 { entry.acknowledged.append((now, count)) }
        if entry.requests.count > settings.requestsPerMinute {
            violations.record(
                .requestLimit,
                "\(entry.requests.count) requests within 60 s, \(settings.requestsPerMinute) are allowed"
            )
        }
        let sum = entry.acknowledged.reduce(0) { $0 + $1.count }
        if sum > settings.acknowledgementsPerMinute {
            violations.record(
                .acknowledgementLimit,
                "\(sum) acknowledged within 60 s, \(settings.acknowledgementsPerMinute) are allowed"
            )
        }
        state.value.accounts[account] = entry
    }

    /// Records that the agent has read an answer, sent at `answeredAt`, that requires a wait.
    func learned(wait: Int64, answeredAt: Int64) {
        guard answeredAt + wait > state.value.holdUntil else { return }
        state.value.holdUntil = answeredAt + wait
        state.value.holdKnownAt = clock.boot
        state.value.isHoldStored = false
    }

    /// Records that the agent has stored the wait, if there is one.
    func stored() { state.value.isHoldStored = true }

    /// Drops a wait that the agent did not store before it ended.
    func ended() {
        if !state.value.isHoldStored { state.value.holdUntil = 0 }
    }

    /// Forgets everything, because a power loss can undo the agent's last writes.
    func forget() {
        state.value = State()
    }

    /// Forgets waits and counts that a changed wall clock makes meaningless.
    func excuseWaits() {
        state.value.holdUntil = 0
        state.value.accounts = [:]
    }
}
