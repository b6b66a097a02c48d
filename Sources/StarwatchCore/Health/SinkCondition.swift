/// The condition of a sink, by its recent results.
package enum SinkCondition: String, Sendable, CaseIterable {
    case working
    /// It does not answer, and its circuit is open or half-open.
    case down
    /// It rejected everything of late.
    case rejecting
    /// It returned 410 Gone.
    case disabled

    /// The number of rejections in a row after which a sink counts as rejecting everything.
    package static let rejectionsOfAll = 3

    package init(isDisabled: Bool, circuit: CircuitState, rejectionsInARow: Int) {
        self =
            if isDisabled {
                .disabled
            } else if circuit != .closed {
                .down
            } else {
                rejectionsInARow >= Self.rejectionsOfAll ? .rejecting : .working
            }
    }
}
