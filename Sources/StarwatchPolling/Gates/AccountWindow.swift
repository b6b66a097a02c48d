import StarwatchCore
import StarwatchStore
import Synchronization

/// The requests and acknowledgements of one account in the last minute.
struct AccountWindow: Sendable {
    private var requests: SlidingWindow
    private var acknowledgements: SlidingWindow
    private var queue = TicketQueue()
    /// `true` if the stored window differs from this one. A crash then counts more than was spent.
    private(set) var isUnstored = false
    /// Requests that the stored window or the account's lease counts and that have not gone.
    private var reserved = 0
    /// The time of the last write; the store forgets old windows.
    private var storedAt: Timestamp?
    /// The number of requests that are stored ahead, so that most go without a write: it saves 44 µs of a cycle's CPU
    /// time (`Benchmarks/poll cycles`, 2 cores AMD EPYC). A crash spends them, so they are few.
    private var block: Int

    /// - Parameter opened: The window as it is stored. Future times, from a clock that was ahead, count as now, and so do the
    ///   requests of an interrupted visit.
    init(limits: GateLimits, opened: RequestWindow?, now: Timestamp) {
        let spent = StoredWindows(bytes: opened?.stored ?? [])
        var requested = spent.requests
        if let uncounted = opened?.uncounted, uncounted > 0 { requested += [now.milliseconds, Int64(uncounted)] }
        requests = SlidingWindow(limit: limits.requestsPerMinute, state: requested, now: now)
        acknowledgements = SlidingWindow(
            limit: limits.acknowledgementsPerMinute,
            state: spent.acknowledgements,
            now: now
        )
        block = min(limits.requestsPerMinute / 20, 64)
        isUnstored = requested.count > spent.requests.count
        reserved = opened?.reserved ?? 0
        storedAt = reserved > 0 ? now : nil
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

    /// Takes a request that the stored window counts already; `false` if it must be stored first.
    mutating func takeReserved(now: Timestamp) -> Bool {
        guard reserved > 0, let storedAt, storedAt <= now, now - storedAt < .seconds(3600) else { return false }
        reserved -= 1
        return true
    }

    /// Ends a request. Its minute starts now, because the server can have received it at any time since it was counted.
    mutating func end(acknowledging identifiers: Int, now: Timestamp) {
        requests.end(at: now)
        acknowledgements.end(min(identifiers, acknowledgements.limit), at: now)
        isUnstored = true
    }

    /// A write of a window, between its start and its end.
    struct Write {
        /// The bytes for the store.
        let bytes: [UInt8]
        fileprivate let now: Timestamp
        fileprivate let reserved: Int
        fileprivate let former: Int
    }

    /// Starts a write.
    mutating func startWrite(now: Timestamp) -> Write {
        isUnstored = block > 0 || requests.underWay > 0
        let stored = StoredWindows(requests, acknowledgements, ahead: block, now: now)
        return Write(bytes: stored.bytes, now: now, reserved: block, former: reserved)
    }

    /// Stores no requests ahead any more, because none goes.
    mutating func stop() { block = 0 }

    /// Ends what the stored window or the lease counts ahead, after which no request goes without a write.
    ///
    /// - Returns: The bytes for the store; `nil` if it has them.
    mutating func rest(now: Timestamp) -> [UInt8]? {
        defer { (reserved, storedAt, isUnstored) = (0, now, requests.underWay > 0) }
        return isUnstored ? StoredWindows(requests, acknowledgements, now: now).bytes : nil
    }

    /// Ends a write that reached the store. Requests that went meanwhile used what was stored before.
    mutating func end(_ write: Write) {
        reserved = max(0, write.reserved - (write.former - reserved))
        storedAt = write.now
    }

    /// Notes that a write did not reach the store.
    mutating func fail(_ write: Write) { isUnstored = true }

    mutating func room(at now: Timestamp) -> Int { requests.room(at: now) }

    /// Moves the spent entries with a wall clock that was set.
    mutating func shift(by jump: Duration) {
        storedAt = storedAt.map { $0 + jump }
        requests.shift(by: jump)
        acknowledgements.shift(by: jump)
    }
}

/// The requests of all accounts to a server in the last second. It ends with the process.
struct ServerRate {
    private var window: SlidingWindow
    private var queue = TicketQueue()

    init(perSecond limit: Int) { window = SlidingWindow(limit: limit, length: .seconds(1)) }

    /// Returns the time until which a request must wait in the queue; `nil` if it can go. It counts nothing.
    mutating func wait(_ ticket: TicketQueue.Ticket, now: Timestamp) -> Timestamp? {
        queue.wait(ticket, in: &window, now: now)
    }

    /// Removes a request that gave up.
    mutating func leave(_ ticket: TicketQueue.Ticket) { queue.leave(ticket) }

    /// Counts a request that goes. Its second begins now, so that slow answers do not lower the rate.
    mutating func spend(_ ticket: TicketQueue.Ticket, now: Timestamp) {
        queue.leave(ticket)
        _ = window.admit(at: now)
        window.end(at: now)
    }

    mutating func shift(by jump: Duration) { window.shift(by: jump) }
}

/// The requests that wait for a place in a window, in order of arrival.
///
/// Without the order, polls that are due more often than the limit allows would take every free place. Another poll, or
/// an acknowledgement, would wait forever.
package struct TicketQueue: Sendable {
    /// One request's place, the same until it has gone or given up.
    package struct Ticket: Sendable, Hashable {
        private static let last = Atomic<UInt64>(0)
        private let number = last.wrappingAdd(1, ordering: .relaxed).newValue

        package init() {}
    }

    private var tickets: [Ticket] = []

    /// Returns the time until which a request must wait for a place in `window`, behind all earlier ones; `nil` if it
    /// can go. A request that must wait joins the queue, and must ``leave(_:)`` it.
    mutating func wait(_ ticket: Ticket, in window: inout SlidingWindow, now: Timestamp) -> Timestamp? {
        let place = tickets.firstIndex(of: ticket)
        let (rounds, ahead) = (place ?? tickets.count).quotientAndRemainder(dividingBy: window.limit)
        var until = window.wait(for: ahead + 1, at: now)
        // The queue is longer than the window's places, so the window must become free once more.
        if rounds > 0 { until = (until ?? now) + window.length * rounds }
        if until != nil, place == nil { tickets.append(ticket) }
        return until
    }

    /// Removes a request that goes, gives up, or waits for another reason.
    mutating func leave(_ ticket: Ticket) { tickets.removeAll { $0 == ticket } }
}
