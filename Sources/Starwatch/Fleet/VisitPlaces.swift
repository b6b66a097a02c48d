import StarwatchPolling
import Synchronization

/// The visits at work. Few poll at a time; more deliver, so that receivers that hang keep no poll waiting.
final class VisitPlaces: Sendable {
    /// The largest number of visits that deliver. Each needs up to 100 KB of memory.
    private static let delivering = 1024

    private let polling: ConcurrencyLimit
    private let all: ConcurrencyLimit

    /// - Parameter polling: The largest number of visits that poll.
    init(polling: Int) {
        self.polling = ConcurrencyLimit(polling)
        all = ConcurrencyLimit(polling + Self.delivering)
    }

    /// Waits for a place.
    ///
    /// - Returns: `nil` if the task was cancelled.
    func enter() async -> Place? {
        guard await all.acquire() else { return nil }
        guard await polling.acquire() else {
            all.release()
            return nil
        }
        return Place(in: self)
    }

    /// The place of one visit.
    final class Place: Sendable {
        private let places: VisitPlaces
        private let polls = Atomic(true)

        fileprivate init(in places: VisitPlaces) { self.places = places }

        /// Lets another visit poll.
        func hasPolled() {
            if polls.exchange(false, ordering: .relaxed) { places.polling.release() }
        }

        func leave() {
            hasPolled()
            places.all.release()
        }
    }
}
