package import StarwatchCore
package import StarwatchStore
import Synchronization

/// The knowledge of a server beyond its limits: its dialect, whether it takes acknowledgements, and the endpoints that it
/// lacks.
package final class KnownServer: Sendable {
    private struct State {
        var stored = ServerState()
        /// Whether the next request asks for the dialect again.
        var isDialectDoubted = false
        /// The last time at which the dialect was doubted.
        var lastDoubt: Timestamp?
        /// The endpoints that the server lacks, with the time of the last attempt.
        var missed: [Endpoint: Timestamp] = [:]
        /// The optional endpoints that have answered.
        var found: Set<Endpoint> = []
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
        state.withLock { state in state.missed = state.missed.mapValues { $0 + jump } }
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
            if state.stored.dialect != dialect {
                (state.stored.acknowledges, state.missed, state.found) = (nil, [:], [])
            }
            state.stored.dialect = dialect
        }
        return isAfresh
    }

    // MARK: - Acknowledgements

    /// `true` if the server has ever taken an acknowledgement; `false` if it had no endpoint for one in the last 24 h;
    /// `nil` if an attempt must show it.
    package func acknowledges(now: Timestamp) -> Bool? {
        if state.withLock(\.stored.acknowledges) == true { return true }
        return rests(.acknowledge, now: now) ? false : nil
    }

    /// Stores that the server took an acknowledgement.
    package func learnAcknowledges() async throws(StoreError) {
        guard state.withLock(\.stored.acknowledges) != true else { return }
        try await store?.servers.rememberAcknowledges(true, server: server)
        state.withLock { $0.stored.acknowledges = true }
    }

    // MARK: - Missing endpoints

    /// Whether the last answer of an endpoint was that the server lacks it.
    package func lacks(_ endpoint: Endpoint) -> Bool { state.withLock { $0.missed[endpoint] != nil } }

    /// Whether the server lacked an endpoint in the last 24 h, so that nothing is sent to it.
    package func rests(_ endpoint: Endpoint, now: Timestamp) -> Bool { restEnd(of: endpoint, now: now) != nil }

    /// The time until which nothing is sent to an endpoint that the server lacked; `nil` if it does not rest.
    package func restEnd(of endpoint: Endpoint, now: Timestamp) -> Timestamp? {
        // A missing endpoint can be a deployment or a wrong route, so it is tried again after a day, and after a restart.
        guard let missed = state.withLock({ $0.missed[endpoint] }), missed <= now else { return nil }
        let end = missed + .seconds(86_400)
        return now < end ? end : nil
    }

    /// Remembers that the server lacks an endpoint.
    ///
    /// - Returns: Whether that is news.
    @discardableResult
    package func miss(_ endpoint: Endpoint, now: Timestamp) -> Bool {
        state.withLock { $0.missed.updateValue(now, forKey: endpoint) == nil }
    }

    /// Whether an endpoint has answered in this run, by ``find(_:)``.
    package func hasFound(_ endpoint: Endpoint) -> Bool { state.withLock { $0.found.contains(endpoint) } }

    /// Remembers that the server has an endpoint.
    package func find(_ endpoint: Endpoint) {
        state.withLock { state in
            state.missed[endpoint] = nil
            state.found.insert(endpoint)
        }
    }
}
