import StarwatchCore
import Synchronization

/// The requests that wait for a place in a window, in the order in which they came.
///
/// Without the order, polls that are due more often than the limit allows would take every free place, and another
/// poll, or an acknowledgement, would wait for ever.
package struct TicketQueue: Sendable {
    /// One request's place: the same from its first question until it has gone or given up.
    package struct Ticket: Sendable, Hashable {
        private static let last = Atomic<UInt64>(0)
        private let number = last.wrappingAdd(1, ordering: .relaxed).newValue

        package init() {}
    }

    private var tickets: [Ticket] = []

    /// The time until which a request must wait for a place in `window`, behind all who came before it; `nil` when it
    /// can go. A request that must wait joins the queue, and must ``leave(_:)`` it.
    mutating func wait(_ ticket: Ticket, in window: inout SlidingWindow, now: Timestamp) -> Timestamp? {
        let place = tickets.firstIndex(of: ticket)
        let (rounds, ahead) = (place ?? tickets.count).quotientAndRemainder(dividingBy: window.limit)
        var until = window.wait(for: ahead + 1, at: now)
        // The queue is longer than the window has places: the window must become free once more.
        if rounds > 0 { until = (until ?? now) + window.length * rounds }
        if until != nil, place == nil { tickets.append(ticket) }
        return until
    }

    /// Removes a request that goes, gives up, or waits for something else.
    mutating func leave(_ ticket: Ticket) { tickets.removeAll { $0 == ticket } }
}
