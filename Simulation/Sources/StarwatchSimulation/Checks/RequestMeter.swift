/// Checks the rate limits and `Retry-After` by the simulation's true time.
final class RequestMeter: Sendable {
    private struct Account {
        var requests: [Int64] = []
        var acknowledged: [(at: Int64, count: Int)] = []
    }

    /// Wait that the server requires, as one process knows it.
    private struct Hold {
        var until: Int64 = 0
        var knownAt: Int64 = 0
        /// `true` once the agent has stored the wait.
        var isStored = false
    }

    private struct State {
        var accounts: [String: Account] = [:]
        var holds: [Int: Hold] = [:]
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
    func sent(by account: String, acknowledging count: Int, from process: Int = 0) {
        let now = clock.boot
        let hold = state.value.holds[process, default: Hold()]
        if now < hold.until - Self.unit, now > hold.knownAt {
            let early = Double(hold.until - now) / 1e6
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
    func learned(wait: Int64, answeredAt: Int64, by process: Int = 0) {
        guard answeredAt + wait > state.value.holds[process, default: Hold()].until else { return }
        state.value.holds[process] = Hold(until: answeredAt + wait, knownAt: clock.boot)
    }

    /// Records that the agent has stored the wait, if there is one.
    func stored(by process: Int = 0) { state.value.holds[process]?.isStored = true }

    /// Drops a wait that the agent did not store before it ended. Several processes store theirs over each other's.
    func ended(_ process: Int = 0) {
        if settings.stores > 1 || state.value.holds[process]?.isStored != true { state.value.holds[process] = nil }
    }

    /// Forgets everything, because a power loss can undo the agent's last writes.
    func forget() { state.value = State() }
}
