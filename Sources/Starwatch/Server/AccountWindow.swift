import StarwatchCore

/// What one account has spent of the rate limits.
struct AccountWindow: Sendable {
    private var requests: SlidingWindow
    private var acknowledgements: SlidingWindow
    private var spent: (requests: StoredWindow, acknowledgements: StoredWindow)

    /// - Parameter windows: What is stored of former runs. What a clock that was ahead has stored counts as spent now.
    init(limits: LimitOptions, stored windows: [[UInt8]], now: Timestamp) {
        let read = windows.map(StoredWindow.read)
        spent = (
            requests: StoredWindow(merging: read.map(\.requests)),
            acknowledgements: StoredWindow(merging: read.map(\.acknowledgements))
        )
        spent.requests.settle(at: now)
        spent.acknowledgements.settle(at: now)
        requests = SlidingWindow(limit: limits.requestsPerMinute, state: spent.requests.times, now: now)
        acknowledgements = SlidingWindow(
            limit: limits.acknowledgementsPerMinute,
            state: spent.acknowledgements.times,
            now: now
        )
    }

    /// Counts a request if it may go; until when it may not.
    mutating func admit(acknowledging identifiers: Int, now: Timestamp) -> Timestamp? {
        // Before anything is spent: what waits for one limit must not use up the other.
        let waits = [requests.wait(for: 1, at: now), acknowledgements.wait(for: identifiers, at: now)]
        if let until = waits.compactMap({ $0 }).max() { return until }
        _ = requests.admit(at: now)
        _ = acknowledgements.admit(identifiers, at: now)
        spent.requests.spend(1, at: now)
        if identifiers > 0 { spent.acknowledgements.spend(identifiers, at: now) }
        return nil
    }

    /// The form in which the store keeps it.
    var stored: [UInt8] { StoredWindow.bytes(requests: spent.requests, acknowledgements: spent.acknowledgements) }

    mutating func room(at now: Timestamp) -> Int { requests.room(at: now) }

    /// Moves what was spent along with a wall clock that was set.
    mutating func shift(by jump: Duration) {
        requests.shift(by: jump)
        acknowledgements.shift(by: jump)
        spent.requests.shift(by: jump)
        spent.acknowledgements.shift(by: jump)
    }
}
