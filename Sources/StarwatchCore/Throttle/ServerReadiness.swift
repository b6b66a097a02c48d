/// Whether a server takes requests now.
package enum ServerReadiness: Sendable, Hashable {
    case ready
    /// One request must first show that the server has recovered.
    case probe
    /// No request can go; `until` is `nil` while a probe is under way.
    case waits(until: Timestamp?)

    /// - Parameter wait: The end of the wait that the server asked for.
    package init(wait: Timestamp?, circuit: inout CircuitBreaker, now: Timestamp) {
        if let wait, wait > now {
            self = .waits(until: wait)
        } else if circuit.isReady(at: now) {
            self = circuit.state == .closed ? .ready : .probe
        } else {
            self = .waits(until: circuit.nextTry)
        }
    }
}

/// The times in which a server took no requests. Who waited for it is not late.
package struct ServerWaits: Sendable {
    /// The number of remembered waits. Older ones count as lateness.
    private static let most = 64

    private var spans: [(from: Timestamp, until: Timestamp)] = []
    /// Whether the last one goes on.
    private var isOpen = false
    /// The end of the one that goes on; `nil` if it is not known.
    private var end: Timestamp?

    package init() {}

    /// Notes what was seen of the server at `now`.
    package mutating func note(_ readiness: ServerReadiness, at now: Timestamp) {
        // The clock was set back.
        if let last = spans.last, last.from > now { (spans, isOpen) = ([], false) }
        let last = spans.count - 1
        if isOpen { spans[last].until = max(spans[last].from, min(now, end ?? now)) }
        guard case .waits(let until) = readiness else {
            isOpen = false
            return
        }
        if !isOpen || end.map({ $0 < now }) == true { spans.append((now, now)) }
        if spans.count > Self.most { spans.removeFirst() }
        (isOpen, end) = (true, until)
    }

    /// The part of the time from `since` to `now` in which the server took no requests.
    package func waited(since: Timestamp, now: Timestamp) -> Duration {
        spans.reduce(.zero) { $0 + max(min($1.until, now) - max($1.from, since), .zero) }
    }
}
