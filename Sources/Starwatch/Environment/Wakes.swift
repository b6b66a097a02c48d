package import StarwatchPolling

/// Wake-up signals of the services, raised by the modules that create their work.
package struct Wakes: Sendable {
    /// Changes or digests wait for delivery.
    package let dispatch = Signal()
    /// Delivered changes wait for their acknowledgement, or the watermark can move.
    package let acknowledge = Signal()
    /// Digests can have changed before their scheduled time.
    package let digests = Signal()
    /// Events wait for their callback.
    package let callbacks = Signal()
}
