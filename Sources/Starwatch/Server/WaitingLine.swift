import StarwatchCore
import Synchronization

/// Who waits for a place in a window, in the order in which they came.
///
/// Whoever comes later waits behind them. Polls that are due more often than the limit allows would otherwise take every
/// place that becomes free, and another poll, or what is to be acknowledged, would wait for ever.
package struct WaitingLine: Sendable {
    /// One request's place: the same from its first question until it has gone or given up.
    package struct Ticket: Sendable, Hashable {
        private static let last = Atomic<UInt64>(0)
        private let number = last.wrappingAdd(1, ordering: .relaxed).newValue

        package init() {}
    }

    private var waiters: [Ticket] = []

    /// Until when a request has to wait for a place in `window`, behind all who were here before; `nil` when it may go.
    /// Who has to wait joins the line, and must ``leave(_:)`` it.
    mutating func wait(_ ticket: Ticket, in window: inout SlidingWindow, now: Timestamp) -> Timestamp? {
        let place = waiters.firstIndex(of: ticket)
        let (rounds, ahead) = (place ?? waiters.count).quotientAndRemainder(dividingBy: window.limit)
        var until = window.wait(for: ahead + 1, at: now)
        // More of them than the window has places: it has to become free once more.
        if rounds > 0 { until = (until ?? now) + window.length * rounds }
        if until != nil, place == nil { waiters.append(ticket) }
        return until
    }

    /// A request goes, gives up, or waits for something else.
    mutating func leave(_ ticket: Ticket) { waiters.removeAll { $0 == ticket } }
}
