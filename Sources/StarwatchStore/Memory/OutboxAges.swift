package import StarwatchCore

/// The times of the oldest pending and dead rows; `nil` if there are none.
///
/// Whether a pending row is late depends on grouping, which only the dispatcher knows.
package struct OutboxAges: Sendable, Hashable {
    /// The creation time of the oldest row that is pending or claimed.
    package let oldestPending: Timestamp?
    package let oldestDead: Timestamp?
}
