import StarwatchCore
import StarwatchStore

/// The time before which a server wants no request, also across a restart. It belongs to the server's ``Gate``.
final class ServerWait {
    private let server: String
    /// The store; `nil`: the wait ends with the process.
    private let store: Store?
    private(set) var notBefore = NotBefore()
    /// `false` if the last write failed, and ``save(isolation:)`` must be called again.
    private(set) var isStored = true
    /// Whether the stored wait comes from a clock that was ahead. It stays stored until the wait is over, because the
    /// present clock can be the wrong one. When the wait is over, call ``save(isolation:)``.
    private(set) var isCorrected = false

    init(server: String, store: Store?) {
        self.server = server
        self.store = store
    }

    /// Restores the wait of a previous run.
    func restore(_ learned: ServerState, now: Timestamp) {
        guard let until = learned.notBefore else { return }
        // Restores a finished wait too: if the clock is set back, the wait moves back with it.
        notBefore = NotBefore(restoring: until, since: learned.notBeforeSet, now: now)
        isCorrected = notBefore.until != until
    }

    /// The end of the wait at `now`; `nil` if requests can go.
    func until(at now: Timestamp) -> Timestamp? { notBefore.wait(at: now) == nil ? nil : notBefore.until }

    /// Waits at least until `until`, as asked for at `now`.
    func hold(until: Timestamp, now: Timestamp, isolation: isolated (any Actor)? = #isolation) async {
        // Stored only if it makes the wait longer.
        if notBefore.extend(to: until, since: now) { await save() }
    }

    /// Ends the wait, and returns whether that is stored.
    func clear(isolation: isolated (any Actor)? = #isolation) async -> Bool {
        notBefore = NotBefore()
        await save()
        return isStored
    }

    /// Moves the wait with a wall clock that was set by `jump`, positive for forward.
    func shift(by jump: Duration, isolation: isolated (any Actor)? = #isolation) async {
        notBefore.shift(by: jump)
        if notBefore.until != nil { await save() }
    }

    /// Stores the wait. If that fails, it stays in memory.
    func save(isolation: isolated (any Actor)? = #isolation) async {
        isStored = store == nil
        isCorrected = false
        while let store, !isStored {
            let wait = notBefore
            guard (try? await store.servers.setNotBefore(wait, server: server)) != nil else { return }
            // The wait can have changed during the write.
            isStored = wait == notBefore
        }
    }
}
