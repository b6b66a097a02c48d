package import StarwatchCore
package import StarwatchStore
import Synchronization

/// The knowledge of a server beyond its limits: its dialect, and whether it takes acknowledgements.
package final class KnownServer: Sendable {
    private struct State {
        var stored = ServerState()
        /// Whether the next request asks for the dialect again.
        var isDialectDoubted = false
        /// The last time at which the dialect was doubted.
        var lastDoubt: Timestamp?
        /// The last time at which the server had no endpoint for acknowledgements.
        var endpointMissed: Timestamp?
    }

    /// The configured dialect; `nil` if responses decide it.
    package let fixedDialect: Dialect?
    private let server: String
    private let store: Store?
    private let state = Mutex(State())

    /// - Parameter store: Keeps the knowledge over a restart; `nil`: it ends with the process.
    init(server: String, dialect: Dialect?, store: Store?) {
        (self.server, fixedDialect, self.store) = (server, dialect, store)
    }

    /// Restores what a previous run has learned.
    func restore(_ learned: ServerState) { state.withLock { $0.stored = learned } }

    /// Moves with a wall clock that was set by `jump`, positive for forward.
    func shift(by jump: Duration) {
        state.withLock { state in state.endpointMissed = state.endpointMissed.map { $0 + jump } }
    }

    // MARK: - Dialect

    /// The dialect; `nil` until it is known.
    package var dialect: Dialect? { fixedDialect ?? state.withLock(\.stored.dialect) }

    /// The dialect of the next request; `nil` if a response must show it first.
    package var dialectToAsk: Dialect? { state.withLock(\.isDialectDoubted) ? nil : dialect }

    /// Stores the dialect of a response.
    ///
    /// - Returns: Whether the server's streams restart because the dialect changed.
    package func learn(_ dialect: Dialect, now: Timestamp) async throws(StoreError) -> Bool {
        let isKnown = state.withLock { state in
            state.isDialectDoubted = false
            return state.stored.dialect == dialect
        }
        return isKnown ? false : try await remember(dialect, now: now)
    }

    /// Stores the configured dialect after the first understood response.
    package func confirmDialect(now: Timestamp) async throws(StoreError) {
        if let fixedDialect { _ = try await learn(fixedDialect, now: now) }
    }

    /// Lets the next cycle detect the dialect again, unless it is configured.
    ///
    /// At most once an hour, because a detection costs a request.
    package func doubtDialect(now: Timestamp) {
        guard fixedDialect == nil else { return }
        state.withLock { state in
            guard state.stored.dialect != nil else { return }
            if let last = state.lastDoubt, last <= now, now - last < .seconds(3600) { return }
            (state.isDialectDoubted, state.lastDoubt) = (true, now)
        }
    }

    /// Assumes the configured dialect if the database has identifiers of another one.
    func adoptFixedDialect(now: Timestamp) async throws(StoreError) {
        let known = state.withLock(\.stored.dialect)
        guard let fixedDialect, let store, known != fixedDialect else { return }
        var isAnother = known != nil
        if !isAnother {
            isAnother = try await store.servers.hasIdentifiers(otherThan: fixedDialect.idKind, server: server)
        }
        if isAnother { _ = try await remember(fixedDialect, now: now) }
    }

    private func remember(_ dialect: Dialect, now: Timestamp) async throws(StoreError) -> Bool {
        let isAfresh = try await store?.servers.rememberDialect(dialect, of: server, now: now) ?? false
        state.withLock { state in
            if state.stored.dialect != dialect { (state.stored.acknowledges, state.endpointMissed) = (nil, nil) }
            state.stored.dialect = dialect
        }
        return isAfresh
    }

    // MARK: - Acknowledgements

    /// `true` if the server has ever taken an acknowledgement; `false` if it had no endpoint for one in the last 24 h;
    /// `nil` if an attempt must show it.
    package func acknowledges(now: Timestamp) -> Bool? {
        let (acknowledges, missed) = state.withLock { ($0.stored.acknowledges, $0.endpointMissed) }
        if acknowledges == true { return true }
        // A missing endpoint can be a deployment or a wrong route, so it is forgotten after a day, and by a restart.
        guard let missed, missed <= now, now - missed < .seconds(86_400) else { return nil }
        return false
    }

    /// Stores that the server took an acknowledgement.
    package func learnAcknowledges() async throws(StoreError) {
        guard state.withLock(\.stored.acknowledges) != true else { return }
        try await store?.servers.rememberAcknowledges(true, server: server)
        state.withLock { $0.stored.acknowledges = true }
    }

    /// Keeps for 24 h that the server has no endpoint for acknowledgements.
    package func missEndpoint(now: Timestamp) { state.withLock { $0.endpointMissed = now } }
}
