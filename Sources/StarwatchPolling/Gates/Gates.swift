package import StarwatchCore
package import StarwatchStore
import StarwatchTransport
import Synchronization

/// The gates of a process, one per server, and their common local clock.
package final class Gates: Sendable {
    /// The store for servers without accounts.
    private let store: Store?
    private let requestsPerMinute: Int
    private let time: any TimeSource
    private let watch: ClockWatch
    private let onJump: @Sendable (ClockJumpDetector.Event) -> Void
    /// The gates, the sum of all clock jumps, and a promise that all gates move with the last jump; `nil` if they have.
    private let state = Mutex<(gates: [String: Gate], jumps: Duration, move: Promise<Void>?)>(([:], .zero, nil))

    /// - Parameters:
    ///   - requestsPerMinute: The limit of requests to any server in 60 s.
    ///   - onJump: Called after a jump of the local clock, once every gate has moved with it.
    package init(
        store: Store?,
        requestsPerMinute: Int,
        time: any TimeSource,
        onJump: @escaping @Sendable (ClockJumpDetector.Event) -> Void = { _ in }
    ) {
        self.store = store
        self.requestsPerMinute = requestsPerMinute
        self.time = time
        self.onJump = onJump
        watch = ClockWatch(time: time)
    }

    /// Number of clock jumps since the start.
    package var jumps: Int { watch.jumps }

    /// The gate to a server, created at its first use.
    package func gate(to origin: String) -> Gate {
        gate(to: origin) { jumps in
            let limits = GateLimits(requestsPerMinute: requestsPerMinute)
            return Gate(server: origin, limits: limits, store: store, jumps: jumps)
        }
    }

    /// The gate to a server, created by `make` at its first use. All accounts of a server share its wait and its circuit.
    ///
    /// - Parameter make: Gets the sum of all clock jumps since the process began.
    package func gate(to origin: String, make: (Duration) -> Gate) -> Gate {
        state.withLock { state in
            let key = ServerURL.withoutDefaultPort(origin)
            if let gate = state.gates[key] { return gate }
            let gate = make(state.jumps)
            state.gates[key] = gate
            return gate
        }
    }

    /// Moves every wait by the jumps of the local clock since the last call.
    ///
    /// Call it before each use of a gate, so no wait counts from a clock that was set before the wait began. It returns
    /// when every gate has moved, also if another call moves them.
    ///
    /// - Returns: The time.
    @discardableResult
    package func followClock() async -> Timestamp {
        let (now, events, former, own) = state.withLock { state in
            let (now, events) = watch.look()
            let former = state.move
            let own = events.isEmpty ? nil : Promise<Void>()
            if let own { state.move = own }
            return (now, events, former, own)
        }
        // Not ended by cancellation, because a cancelled request uses its gate once more.
        if let former { _ = await former.outcome() }
        guard let own else { return former == nil ? now : time.now }
        await move(by: events)
        state.withLock { if $0.move === own { $0.move = nil } }
        own.fulfil(())
        // Last, because a log with a slow reader blocks its writer, and another request would use a gate that has not
        // moved.
        for event in events { onJump(event) }
        return time.now
    }

    private func move(by events: [ClockJumpDetector.Event]) async {
        for event in events where event.jump != .suspend {
            let jump = event.jump == .forward ? event.size : .zero - event.size
            let gates = state.withLock { state in
                state.jumps += jump
                return Array(state.gates.values)
            }
            let now = time.now
            // Concurrent, so no gate waits for another gate's write.
            await withTaskGroup { group in
                for gate in gates {
                    gate.clock?.recordStep()
                    group.addTask { await gate.shift(by: jump, now: now) }
                }
            }
        }
    }

    /// Stores what the gates have not stored yet. Call it before the database is closed.
    package func storeEnds() async {
        let (gates, now) = (state.withLock { Array($0.gates.values) }, time.now)
        for gate in gates { await gate.storeEnds(now: now) }
    }
}
