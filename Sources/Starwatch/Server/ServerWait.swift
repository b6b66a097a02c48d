import StarwatchCore
import StarwatchStore

/// What a server asked for: a time before which nothing goes there, over a restart too. It belongs to the one actor that
/// is the way to that server.
final class ServerWait {
    private let server: String
    /// `nil`: it is kept for as long as the process runs.
    private let store: Store?
    private(set) var notBefore = NotBefore()
    private var isStored = true
    /// Whether the stored wait is of a clock that was ahead. It stays until the wait is over, for it may be the clock of
    /// now that is wrong.
    private var isCorrected = false

    init(server: String, store: Store?) {
        self.server = server
        self.store = store
    }

    /// Takes up what a former run stored.
    func restore(_ learned: ServerState, now: Timestamp) {
        guard let until = learned.notBefore else { return }
        // One that is over too: with a clock that is set back, it is moved back as well.
        notBefore = NotBefore(restoring: until, since: learned.notBeforeSet, now: now)
        isCorrected = notBefore.until != until
    }

    /// Until when to wait at `now`; `nil` when requests may go.
    func until(at now: Timestamp) -> Timestamp? { notBefore.wait(at: now) == nil ? nil : notBefore.until }

    /// Waits until `until` at least, as asked at `now`.
    func hold(until: Timestamp, now: Timestamp, isolation: isolated (any Actor)? = #isolation) async {
        // Stored only where it makes the wait longer.
        if notBefore.extend(to: until, since: now) { await keep() }
    }

    /// Moves along with a wall clock that was set by `jump`, positive for forward.
    func shift(by jump: Duration, isolation: isolated (any Actor)? = #isolation) async {
        notBefore.shift(by: jump)
        if notBefore.until != nil { await keep() }
    }

    /// Stores what could not be stored before: to be called from time to time.
    func keepUnstored(isolation: isolated (any Actor)? = #isolation) async {
        if !isStored { await keep() }
    }

    /// Stores a corrected wait that is over.
    ///
    /// - Returns: Whether something was done, in which time there may be another wait.
    func keepCorrection(isolation: isolated (any Actor)? = #isolation) async -> Bool {
        guard isCorrected else { return false }
        await keep()
        return true
    }

    private func keep(isolation: isolated (any Actor)? = #isolation) async {
        isStored = store == nil
        isCorrected = false
        while let store, !isStored {
            let wait = notBefore
            guard (try? await store.setNotBefore(wait, server: server)) != nil else { return }
            // It may have become another meanwhile.
            isStored = wait == notBefore
        }
    }
}
