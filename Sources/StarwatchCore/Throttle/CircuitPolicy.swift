/// The conditions for opening and probing a circuit.
public struct CircuitPolicy: Sendable, Hashable {
    /// The number of consecutive failures that open it.
    public var failuresToOpen: Int
    /// The delay before the next request while the circuit is closed; `nil` for none.
    public var waitWhileClosed: Backoff?
    /// The delay before each probe; constant if base and cap are equal.
    public var probe: Backoff
    /// The delay before the next probe after a network failure; `nil` uses ``probe``.
    public var networkProbe: Duration?

    /// For the Endorser server: opens after five failed cycles; probes after 60 s, or 15 s when the network is down.
    public static let server = CircuitPolicy(
        failuresToOpen: 5,
        waitWhileClosed: nil,
        probe: Backoff(base: .seconds(60), cap: .seconds(60)),
        networkProbe: .seconds(15)
    )

    /// For a sink: delays of 1, 2, 4 and 8 s until the fifth failure opens it; probes after 5 s, doubling to 60 s.
    public static let sink = CircuitPolicy(
        failuresToOpen: 5,
        waitWhileClosed: Backoff(base: .seconds(1), cap: .seconds(8)),
        probe: Backoff(base: .seconds(5), cap: .seconds(60)),
        networkProbe: nil
    )
}
