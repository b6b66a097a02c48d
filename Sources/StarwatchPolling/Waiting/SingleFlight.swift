import Synchronization

/// Work that is done once for all tasks that request the same at the same time.
///
/// A cancelled waiter stops waiting at once and does not end the work for the others. The work is cancelled when nobody
/// waits any more.
package final class SingleFlight<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private struct Flight {
        let promise = Promise<Value>()
        var task: Task<Void, Never>?
        var waiters = 0
    }

    private let flights = Mutex<[Key: Flight]>([:])
    private let onJoin: @Sendable (Int) -> Void

    /// - Parameter onJoin: Called when a task begins to wait, with the number that now wait for the same work.
    package init(onJoin: @escaping @Sendable (Int) -> Void = { _ in }) { self.onJoin = onJoin }

    /// The number of different works in flight.
    package var count: Int { flights.withLock(\.count) }

    /// Returns the value of `body`, or of the same work that is already in flight.
    ///
    /// - Returns: `nil` when the task is cancelled, or the work was ended by ``abort(where:)``.
    package func run(_ key: Key, _ body: @escaping @Sendable () async -> Value) async -> Value? {
        if Task.isCancelled { return nil }
        let flight = join(key, body)
        onJoin(flight.waiters)
        guard let value = await flight.promise.value() else {
            leave(key, flight.promise)
            return nil
        }
        return value
    }

    /// Ends the work of the matching keys; every waiter gets `nil`.
    package func abort(where matches: (Key) -> Bool) {
        let ended = flights.withLock { flights in
            flights.keys.filter(matches).compactMap { flights.removeValue(forKey: $0) }
        }
        for flight in ended {
            flight.task?.cancel()
            flight.promise.abandon()
        }
    }

    private func join(_ key: Key, _ body: @escaping @Sendable () async -> Value) -> Flight {
        flights.withLock { flights in
            var flight = flights[key] ?? Flight()
            if flight.task == nil {
                let promise = flight.promise
                // Unstructured: the work belongs to all who wait for it, and outlives the task that began it.
                flight.task = Task {
                    let value = await body()
                    self.land(key, promise)
                    promise.fulfil(value)
                }
            }
            flight.waiters += 1
            flights[key] = flight
            return flight
        }
    }

    private func leave(_ key: Key, _ promise: Promise<Value>) {
        let task: Task<Void, Never>? = flights.withLock { flights in
            guard var flight = flights[key], flight.promise === promise else { return nil }
            flight.waiters -= 1
            flights[key] = flight.waiters == 0 ? nil : flight
            return flight.waiters == 0 ? flight.task : nil
        }
        task?.cancel()
    }

    private func land(_ key: Key, _ promise: Promise<Value>) {
        flights.withLock { flights in
            // Another flight under the same key can have started after this one lost its last waiter.
            if flights[key]?.promise === promise { flights[key] = nil }
        }
    }
}
