/// When a circuit opens and how it is probed.
public struct CircuitPolicy: Sendable, Hashable {
    /// Failures in a row that open it.
    public var failuresToOpen: Int
    /// The wait before the next try while it is still closed; `nil`: none.
    public var waitWhileClosed: Backoff?
    /// The wait before each probe: the same every time when base and cap are the same.
    public var probe: Backoff
    /// The wait before the next probe after a failure of the network; `nil`: as ``probe``.
    public var networkProbe: Duration?

    public init(failuresToOpen: Int, waitWhileClosed: Backoff?, probe: Backoff, networkProbe: Duration?) {
        self.failuresToOpen = max(1, failuresToOpen)
        self.waitWhileClosed = waitWhileClosed
        self.probe = probe
        self.networkProbe = networkProbe
    }

    /// The Endorser server: five failed cycles, then one try after 60 s, or after 15 s when the network is down.
    public static let server = CircuitPolicy(
        failuresToOpen: 5,
        waitWhileClosed: nil,
        probe: Backoff(base: .seconds(60), cap: .seconds(60)),
        networkProbe: .seconds(15)
    )

    /// A sink: tried after 1, 2, 4, 8 s until the fifth failure, then probed after 5 s doubling to 60 s.
    public static let sink = CircuitPolicy(
        failuresToOpen: 5,
        waitWhileClosed: Backoff(base: .seconds(1), cap: .seconds(8)),
        probe: Backoff(base: .seconds(5), cap: .seconds(60)),
        networkProbe: nil
    )
}
