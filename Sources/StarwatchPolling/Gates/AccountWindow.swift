import StarwatchCore

/// The requests and acknowledgements of one account in the last minute.
struct AccountWindow: Sendable {
    private var requests: SlidingWindow
    private var acknowledgements: SlidingWindow
    private var queue = TicketQueue()
    /// `true` if the end of a request still has to be stored, with the next request or when the database closes.
    var isUnstored = false

    /// - Parameter stored: The window of a previous run. Future times, from a clock that was ahead, count as now.
    init(limits: GateLimits, stored: [UInt8]?, now: Timestamp) {
        let spent = StoredWindows(bytes: stored ?? [])
        requests = SlidingWindow(limit: limits.requestsPerMinute, state: spent.requests, now: now)
        acknowledgements = SlidingWindow(
            limit: limits.acknowledgementsPerMinute,
            state: spent.acknowledgements,
            now: now
        )
    }

    /// Returns the time until which a request must wait in the queue; `nil` if it can go. It counts nothing.
    mutating func wait(_ ticket: TicketQueue.Ticket, acknowledging identifiers: Int, now: Timestamp) -> Timestamp? {
        // Checks both limits before it spends from either: a request that waits for one must not use up the other.
        let wait = queue.wait(ticket, in: &requests, now: now)
        guard let until = acknowledgements.wait(for: identifiers, at: now) else { return wait }
        if wait == nil { queue.leave(ticket) }
        return max(until, wait ?? until)
    }

    /// Removes a request that gave up.
    mutating func leave(_ ticket: TicketQueue.Ticket) { queue.leave(ticket) }

    /// Counts a request that goes.
    mutating func spend(_ ticket: TicketQueue.Ticket, acknowledging identifiers: Int, now: Timestamp) {
        queue.leave(ticket)
        _ = requests.admit(at: now)
        _ = acknowledgements.admit(identifiers, at: now)
    }

    /// Ends a request that was counted at `start`. Its minute starts now, because the server can have received it at
    /// any time since `start`.
    mutating func end(acknowledging identifiers: Int, countedAt start: Timestamp, now: Timestamp) {
        requests.end(at: now)
        acknowledgements.end(min(identifiers, acknowledgements.limit), at: now)
        isUnstored = isUnstored || StoredWindows.second(of: start) != StoredWindows.second(of: now)
    }

    /// The bytes for the store. Requests in flight count as spent at `now`.
    func stored(at now: Timestamp) -> [UInt8] {
        StoredWindows(requests: requests, acknowledgements: acknowledgements, now: now).bytes
    }

    mutating func room(at now: Timestamp) -> Int { requests.room(at: now) }

    /// Moves the spent entries with a wall clock that was set.
    mutating func shift(by jump: Duration) {
        requests.shift(by: jump)
        acknowledgements.shift(by: jump)
    }
}
