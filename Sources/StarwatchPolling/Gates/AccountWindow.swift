import StarwatchCore

/// The requests and acknowledgements of one account in the last minute.
struct AccountWindow: Sendable {
    private var requests: SlidingWindow
    private var acknowledgements: SlidingWindow
    private var queue = TicketQueue()
    /// Whether the end of a request is still to be stored, with the next request or when the database closes.
    var isUnstored = false

    /// - Parameter stored: The window of a former run. Times in the future, from a clock that was ahead, count as now.
    init(limits: GateLimits, stored: [UInt8]?, now: Timestamp) {
        let spent = StoredWindows(bytes: stored ?? [])
        requests = SlidingWindow(limit: limits.requestsPerMinute, state: spent.requests, now: now)
        acknowledgements = SlidingWindow(
            limit: limits.acknowledgementsPerMinute,
            state: spent.acknowledgements,
            now: now
        )
    }

    /// The time until which a request must wait, in the queue; `nil` when it can go. Counts nothing.
    mutating func wait(_ ticket: TicketQueue.Ticket, acknowledging identifiers: Int, now: Timestamp) -> Timestamp? {
        // Both limits are asked before anything is spent: a request that waits for one must not use up the other.
        let wait = queue.wait(ticket, in: &requests, now: now)
        guard let until = acknowledgements.wait(for: identifiers, at: now) else { return wait }
        if wait == nil { queue.leave(ticket) }
        return max(until, wait ?? until)
    }

    /// Removes a request that gives up.
    mutating func leave(_ ticket: TicketQueue.Ticket) { queue.leave(ticket) }

    /// Counts a request that can go.
    mutating func spend(_ ticket: TicketQueue.Ticket, acknowledging identifiers: Int, now: Timestamp) {
        queue.leave(ticket)
        _ = requests.admit(at: now)
        _ = acknowledgements.admit(identifiers, at: now)
    }

    /// Ends a request that was counted at `start`. Its minute begins now: the server may have met it at any moment since.
    mutating func end(acknowledging identifiers: Int, countedAt start: Timestamp, now: Timestamp) {
        requests.end(at: now)
        acknowledgements.end(min(identifiers, acknowledgements.limit), at: now)
        isUnstored = isUnstored || StoredWindows.second(of: start) != StoredWindows.second(of: now)
    }

    /// The bytes that the store keeps. Requests under way count as spent at `now`.
    func stored(at now: Timestamp) -> [UInt8] {
        StoredWindows(requests: requests, acknowledgements: acknowledgements, now: now).bytes
    }

    mutating func room(at now: Timestamp) -> Int { requests.room(at: now) }

    /// Moves what was spent along with a wall clock that was set.
    mutating func shift(by jump: Duration) {
        requests.shift(by: jump)
        acknowledgements.shift(by: jump)
    }
}
