import StarwatchCore

/// What one account has spent of the rate limits, and how much of that the store knows.
struct AccountWindow: Sendable {
    private var requests: SlidingWindow
    private var acknowledgements: SlidingWindow
    private var spent: (requests: StoredWindow, acknowledgements: StoredWindow)
    private var unstored = 0
    /// How many requests may be sent that the store does not know; a crash loses them.
    private let allowance: Int
    /// Whether anything was spent since ``take()``.
    var isDirty = false

    /// - Parameter windows: What is stored of former runs. Nobody knows what was lost in a crash, so that much counts
    ///   as spent now.
    init(limits: LimitOptions, stored windows: [[UInt8]], now: Timestamp) {
        let read = windows.map(StoredWindow.read)
        spent = (
            requests: StoredWindow(merging: read.map(\.requests)),
            acknowledgements: StoredWindow(merging: read.map(\.acknowledgements))
        )
        allowance = max(0, limits.requestsPerMinute / 10 - 1)
        if !windows.isEmpty, allowance > 0 { spent.requests.spend(allowance, at: now) }
        requests = SlidingWindow(limit: limits.requestsPerMinute, state: spent.requests.times, now: now)
        acknowledgements = SlidingWindow(
            limit: limits.acknowledgementsPerMinute,
            state: spent.acknowledgements.times,
            now: now
        )
    }

    /// Counts a request if it may go; until when it may not.
    mutating func admit(acknowledging identifiers: Int, now: Timestamp) -> Timestamp? {
        if identifiers > 0, case .wait(let until) = acknowledgements.admit(identifiers, at: now) { return until }
        if case .wait(let until) = requests.admit(at: now) { return until }
        spent.requests.spend(1, at: now)
        if identifiers > 0 { spent.acknowledgements.spend(identifiers, at: now) }
        unstored += identifiers > 0 ? allowance + 1 : 1
        isDirty = true
        return nil
    }

    /// Whether a crash now would lose more than is made up for at the next start.
    var mustBeStored: Bool { unstored > allowance }

    /// The form in which the store keeps it; `nil` when nothing was spent since the last call.
    mutating func take() -> [UInt8]? {
        guard isDirty else { return nil }
        (isDirty, unstored) = (false, 0)
        return stored
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
