import Synchronization

/// Does the same thing once for all who want it at the same time.
///
/// Whoever is cancelled stops waiting at once and does not end it for the others; when nobody waits any more, the work
/// is cancelled.
final class SingleFlight<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private struct Flight {
        let id: UInt64
        var task: Task<Void, Never>?
        var waiters: [UInt64: CheckedContinuation<Value?, Never>] = [:]
    }

    private struct State {
        var lastID: UInt64 = 0
        var flights: [Key: Flight] = [:]
        /// Waiters that were cancelled before they began to wait.
        var gone: Set<UInt64> = []
    }

    private let state = Mutex(State())
    private let onJoin: @Sendable (Int) -> Void

    /// - Parameter onJoin: Called when somebody begins to wait, with how many now wait for the same thing.
    init(onJoin: @escaping @Sendable (Int) -> Void = { _ in }) {
        self.onJoin = onJoin
    }

    /// How many different things are under way.
    var count: Int { state.withLock(\.flights.count) }

    /// The value of `body`, or of the same thing that is under way already.
    ///
    /// - Returns: `nil` when the task is cancelled, or the work was ended by ``abort(where:)``.
    func run(_ key: Key, _ body: @escaping @Sendable () async -> Value) async -> Value? {
        let waiter = state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
        // A cancellation that comes with the value finds nobody waiting.
        defer { state.withLock { _ = $0.gone.remove(waiter) } }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in join(key, waiter, continuation, body) }
        } onCancel: {
            leave(key, waiter)
        }
    }

    /// Ends what is under way for such keys; all who wait for it get `nil`.
    func abort(where isMeant: (Key) -> Bool) {
        let flights = state.withLock { state in
            let keys = state.flights.keys.filter(isMeant)
            return keys.compactMap { state.flights.removeValue(forKey: $0) }
        }
        for flight in flights {
            flight.task?.cancel()
            for continuation in flight.waiters.values { continuation.resume(returning: nil) }
        }
    }

    private func join(
        _ key: Key,
        _ waiter: UInt64,
        _ continuation: CheckedContinuation<Value?, Never>,
        _ body: @escaping @Sendable () async -> Value
    ) {
        let count: Int? = state.withLock { state in
            if state.gone.remove(waiter) != nil { return nil }
            if state.flights[key] == nil {
                state.lastID += 1
                let id = state.lastID
                // A task of its own: it belongs to all who wait, and ends with the last of them.
                state.flights[key] = Flight(id: id, task: Task { self.land(key, id, await body()) })
            }
            state.flights[key]?.waiters[waiter] = continuation
            return state.flights[key]?.waiters.count
        }
        if let count { onJoin(count) } else { continuation.resume(returning: nil) }
    }

    private func leave(_ key: Key, _ waiter: UInt64) {
        let (continuation, task) = state.withLock {
            state -> (CheckedContinuation<Value?, Never>?, Task<Void, Never>?) in
            guard let continuation = state.flights[key]?.waiters.removeValue(forKey: waiter) else {
                state.gone.insert(waiter)
                return (nil, nil)
            }
            guard state.flights[key]?.waiters.isEmpty ?? false else { return (continuation, nil) }
            return (continuation, state.flights.removeValue(forKey: key)?.task)
        }
        task?.cancel()
        continuation?.resume(returning: nil)
    }

    private func land(_ key: Key, _ id: UInt64, _ value: Value) {
        let waiters = state.withLock { state in
            // Another flight under the same key may have begun after this one lost its last waiter.
            guard state.flights[key]?.id == id else { return [CheckedContinuation<Value?, Never>]() }
            return state.flights.removeValue(forKey: key).map { Array($0.waiters.values) } ?? []
        }
        for continuation in waiters { continuation.resume(returning: value) }
    }
}
