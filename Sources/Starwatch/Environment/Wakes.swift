package import StarwatchPolling

/// The wake-up of each service, raised by the rooms that give it work.
package struct Wakes: Sendable {
    /// Changes or digests wait for delivery.
    package let dispatch = Signal()
    /// Delivered changes wait for their acknowledgement, or the watermark can move.
    package let acknowledge = Signal()
    /// Digests may have changed before their time.
    package let digests = Signal()
    /// Events wait for their callback.
    package let callbacks = Signal()

    package init() {}
}
