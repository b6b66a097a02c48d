import StarwatchCore

/// What one account has spent of the rate limits.
struct AccountWindow: Sendable {
    private var requests: SlidingWindow
    private var acknowledgements: SlidingWindow
    private var line = WaitingLine()
    /// Whether the end of a request is to be stored; with the next one that goes, or at the end.
    var isUnstored = false
    private var spent: (requests: StoredWindow, acknowledgements: StoredWindow)

    /// - Parameter stored: What a former run has stored. What a clock that was ahead has stored counts as spent now.
    init(limits: LimitOptions, stored: [UInt8]?, now: Timestamp) {
        spent = StoredWindow.read(stored ?? [])
        spent.requests.settle(at: now)
        spent.acknowledgements.settle(at: now)
        requests = SlidingWindow(limit: limits.requestsPerMinute, state: spent.requests.times, now: now)
        acknowledgements = SlidingWindow(
            limit: limits.acknowledgementsPerMinute,
            state: spent.acknowledgements.times,
            now: now
        )
    }

    /// Until when a request has to wait, which it does in line; `nil` when it may go. Counts nothing.
    mutating func wait(_ ticket: WaitingLine.Ticket, acknowledging identifiers: Int, now: Timestamp) -> Timestamp? {
        // Before anything is spent: what waits for one limit must not use up the other, nor keep others from it.
        let wait = line.wait(ticket, in: &requests, now: now)
        guard let until = acknowledgements.wait(for: identifiers, at: now) else { return wait }
        if wait == nil { line.leave(ticket) }
        return max(until, wait ?? until)
    }

    /// A request gives up.
    mutating func leave(_ ticket: WaitingLine.Ticket) { line.leave(ticket) }

    /// Counts a request that may go.
    mutating func spend(_ ticket: WaitingLine.Ticket, acknowledging identifiers: Int, now: Timestamp) {
        line.leave(ticket)
        _ = requests.admit(at: now)
        _ = acknowledgements.admit(identifiers, at: now)
        spent.requests.spend(1, at: now)
        if identifiers > 0 { spent.acknowledgements.spend(identifiers, at: now) }
    }

    /// Ends a request that was counted at `start`: nobody can tell when the server met it.
    mutating func end(acknowledging identifiers: Int, countedAt start: Timestamp, now: Timestamp) {
        requests.end(at: now)
        acknowledgements.end(min(identifiers, acknowledgements.limit), at: now)
        let hasMoved = spent.requests.move(1, from: start, to: now)
        isUnstored = spent.acknowledgements.move(identifiers, from: start, to: now) || hasMoved || isUnstored
    }

    /// The form in which the store keeps it.
    var stored: [UInt8] { StoredWindow.bytes(requests: spent.requests, acknowledgements: spent.acknowledgements) }

    /// When the last request was counted; `nil` when none was.
    var lastSpent: Timestamp? { spent.requests.last }

    mutating func room(at now: Timestamp) -> Int { requests.room(at: now) }

    /// Moves what was spent along with a wall clock that was set.
    mutating func shift(by jump: Duration) {
        requests.shift(by: jump)
        acknowledgements.shift(by: jump)
        spent.requests.shift(by: jump)
        spent.acknowledgements.shift(by: jump)
    }
}
