package import StarwatchCore
package import StarwatchStore

/// The knowledge of a server beyond its limits.
struct KnownServer {
    var state = ServerState()
    /// Whether the next request asks for the dialect again.
    var isDialectDoubted = false
    /// The last time at which the dialect was doubted.
    var lastDoubt: Timestamp?
    /// The last time at which the server had no endpoint for acknowledgements.
    var endpointMissed: Timestamp?
}

extension Gate {
    /// The dialect; `nil` until it is known.
    package var dialect: Dialect? { fixedDialect ?? known.state.dialect }

    /// The dialect of the next request; `nil` if a response must show it first.
    package var dialectToAsk: Dialect? { known.isDialectDoubted ? nil : dialect }

    /// `true` if the server has ever taken an acknowledgement; `false` if it had no endpoint for one in the last 24 h;
    /// `nil` if an attempt must show it.
    package func acknowledges(now: Timestamp) -> Bool? {
        if known.state.acknowledges == true { return true }
        // A missing endpoint can be a deployment or a wrong route, so it is forgotten after a day, and by a restart.
        guard let seen = known.endpointMissed, seen <= now, now - seen < .seconds(86_400) else { return nil }
        return false
    }

    /// Stores the dialect of a response.
    ///
    /// - Returns: Whether the server's streams restart because the dialect changed.
    package func learn(_ dialect: Dialect, now: Timestamp) async throws(StoreError) -> Bool {
        known.isDialectDoubted = false
        guard known.state.dialect != dialect else { return false }
        return try await remember(dialect, now: now)
    }

    /// Stores the configured dialect after the first understood response.
    package func confirmDialect(now: Timestamp) async throws(StoreError) {
        if let fixedDialect { _ = try await learn(fixedDialect, now: now) }
    }

    /// Lets the next cycle detect the dialect again, unless it is configured.
    ///
    /// At most once an hour, because a detection costs a request.
    package func doubtDialect(now: Timestamp) {
        guard fixedDialect == nil, known.state.dialect != nil else { return }
        if let last = known.lastDoubt, last <= now, now - last < .seconds(3600) { return }
        (known.isDialectDoubted, known.lastDoubt) = (true, now)
    }

    /// Stores that the server took an acknowledgement.
    package func learnAcknowledges() async throws(StoreError) {
        guard known.state.acknowledges != true else { return }
        try await windows.store?.servers.rememberAcknowledges(true, server: server)
        known.state.acknowledges = true
    }

    /// Keeps for 24 h that the server has no endpoint for acknowledgements.
    package func missEndpoint(now: Timestamp) { known.endpointMissed = now }

    /// Assumes the configured dialect if the database has identifiers of another one.
    func adoptFixedDialect(now: Timestamp) async throws(StoreError) {
        guard let fixedDialect, let store = windows.store, known.state.dialect != fixedDialect else { return }
        var isAnother = known.state.dialect != nil
        if !isAnother {
            isAnother = try await store.servers.hasIdentifiers(otherThan: fixedDialect.idKind, server: server)
        }
        if isAnother { _ = try await remember(fixedDialect, now: now) }
    }

    private func remember(_ dialect: Dialect, now: Timestamp) async throws(StoreError) -> Bool {
        let isAfresh = try await windows.store?.servers.rememberDialect(dialect, of: server, now: now) ?? false
        if known.state.dialect != dialect { (known.state.acknowledges, known.endpointMissed) = (nil, nil) }
        known.state.dialect = dialect
        return isAfresh
    }
}
