/// How far a poll has seen the server's changes, by the server's own clock.
///
/// A change that the poll has not seen has an identifier of ``time`` or later, except for ``Dialect/lateVisibility``. The cursor
/// alone does not tell this: if the server's clock was ahead and is set back, new identifiers lie below the cursor.
///
/// Every `Date` of the server goes to ``observe(_:asked:at:tolerance:)``, which notices a clock that was set back. A walk moves the
/// horizon up when it ends, or when ascending pages pass the cursor. Times since the machine's start are arguments.
public struct SeenHorizon: Sendable {
    /// The server's time up to which every change was seen; `nil` if it is unknown.
    public private(set) var time: Timestamp?
    /// The last `Date`, and the time since the machine's start at which it came.
    private var date: (server: Timestamp, boottime: Duration)?
    /// The local time from the last successful cycle of an earlier run to the start of this one.
    private var pause: (age: Duration, boottime: Duration)?
    /// The horizon of the walk in progress when it ends; `nil` if it is unknown.
    private var next: Timestamp?
    /// An interrupted walk that this run began, by its newest identifier, and its horizon when it ends.
    private var interrupted: (top: JWTID, next: Timestamp)?

    /// The largest step back that is accepted on the local clock's word alone: a day, or the time that the outbox keeps
    /// delivered rows if that is shorter.
    private var longestStep = Duration.zero

    public init() {}

    /// Continues from what an earlier run has stored, until the first `Date`.
    ///
    /// - Parameters:
    ///   - stored: The horizon of that run; `nil` if it had none.
    ///   - age: The local time since it saw this.
    ///   - kept: How long the outbox keeps delivered rows. What is fetched again after that is announced again.
    ///   - boottime: The time since the machine's start.
    public init(stored: Timestamp?, age: Duration, kept: Duration, at boottime: Duration) {
        time = stored
        longestStep = Self.longestStep(kept: kept)
        pause = (max(age, .zero), boottime)
    }

    /// Notes a `Date` of the server. If its clock was set back, changes of the time since the `Date` before can lie below
    /// the horizon, which moves down.
    ///
    /// - Parameters:
    ///   - asked: The time since the machine's start at which the request was sent, after all waits. The machine can have slept
    ///     since, so that the `Date` is old.
    ///   - boottime: The time since the machine's start, now.
    public mutating func observe(_ server: Timestamp, asked: Duration, at boottime: Duration, tolerance: Duration) {
        defer { date = (server, boottime) }
        if let date {
            guard server + tolerance < date.server + (asked - date.boottime) else { return }
            lower(to: server - (boottime - date.boottime))
        } else if let pause {
            let passed = pause.age + boottime - pause.boottime
            guard let stored = time else {
                // The walk in progress began without this horizon.
                (time, next) = (server - passed, next.map { min($0, server - passed) })
                return
            }
            guard server + tolerance < stored + pause.age + (asked - pause.boottime) else { return }
            // Only a time below the stored one proves that the server's clock was set back, and not the local one ahead.
            let isProven = server + tolerance < stored
            lower(to: isProven ? server - passed : max(server - passed, stored - longestStep))
        }
    }

    /// The part of the stored horizon's past that a walk can fetch again.
    public static func longestStep(kept: Duration) -> Duration { min(kept, .seconds(86_400)) }

    private mutating func lower(to limit: Timestamp) {
        time = time.map { min($0, limit) }
        next = next.map { min($0, limit) }
        if let open = interrupted { interrupted = (open.top, min(open.next, limit)) }
    }

    /// Moves the horizon up. A page from a cache shows an older state, but takes nothing back.
    private mutating func raise(to limit: Timestamp) { time = time.map { max($0, limit) } ?? limit }

    /// Begins a walk.
    ///
    /// - Parameter resumed: The interrupted walk that it continues; `nil` for a new one.
    public mutating func begin(resuming resumed: OpenWalk?) {
        guard let resumed else { return next = Timestamp(milliseconds: .max) }
        next = interrupted?.top == resumed.top ? interrupted?.next : nil
    }

    /// Takes a page of the walk.
    ///
    /// - Parameter readSince: The earliest time, by the server's own clock, at which it can have read the page; `nil` if
    ///   unknown.
    public mutating func receive(readSince: Timestamp?) {
        next = next.flatMap { next in readSince.map { min(next, $0) } }
    }

    /// Notes that ascending pages have shown everything up to a cursor, so that the next walk need not begin lower.
    public mutating func pass(_ cursor: JWTID) { if let next { raise(to: min(next, cursor.timestamp)) } }

    /// Notes that the next cycle can continue the walk.
    ///
    /// - Parameter top: The walk's newest identifier.
    public mutating func interrupt(at top: JWTID) { interrupted = next.map { (top, $0) } }

    /// Ends a walk that has seen every page.
    public mutating func complete() {
        if let next { raise(to: next) }
        (next, interrupted) = (nil, nil)
    }

    /// The server's present time by its last `Date`; `nil` before the first one.
    public func serverTime(at boottime: Duration) -> Timestamp? { date.map { $0.server + (boottime - $0.boottime) } }
}
