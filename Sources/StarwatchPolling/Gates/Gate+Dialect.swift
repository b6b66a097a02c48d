package import StarwatchCore
package import StarwatchStore

/// Doubts about a dialect that was found out.
struct DialectDoubt {
    var isOpen = false
    var last: Timestamp?
}

extension Gate {
    /// The dialect; `nil` until it is known.
    package var dialect: Dialect? { fixedDialect ?? learned.dialect }

    /// The dialect of the next request; `nil` when an answer must show it first.
    package var dialectToAsk: Dialect? { doubt.isOpen ? nil : dialect }

    /// Whether the server takes acknowledgements; `nil` until tried.
    package var acknowledges: Bool? { learned.acknowledges }

    /// Remembers the dialect of an answer.
    ///
    /// - Returns: Whether the server's streams start afresh, because the dialect changed.
    package func learn(_ dialect: Dialect, now: Timestamp) async throws(StoreError) -> Bool {
        doubt.isOpen = false
        guard learned.dialect != dialect else { return false }
        return try await remember(dialect, now: now)
    }

    /// Remembers the configured dialect once an answer was understood in it.
    package func confirmDialect(now: Timestamp) async throws(StoreError) {
        if let fixedDialect { _ = try await learn(fixedDialect, now: now) }
    }

    /// Lets the next cycle detect the dialect again, unless it is configured.
    ///
    /// At most once an hour, because detection costs a request.
    package func doubtDialect(now: Timestamp) {
        guard fixedDialect == nil, learned.dialect != nil else { return }
        if let last = doubt.last, last <= now, now - last < .seconds(3600) { return }
        doubt = DialectDoubt(isOpen: true, last: now)
    }

    /// Remembers whether the server takes acknowledgements.
    package func learn(acknowledges: Bool) async throws(StoreError) {
        guard learned.acknowledges != acknowledges else { return }
        try await store?.rememberAcknowledges(acknowledges, server: server)
        learned.acknowledges = acknowledges
    }

    /// Takes the configured dialect for the server's, where the database holds identifiers of another.
    func adoptFixedDialect(now: Timestamp) async throws(StoreError) {
        guard let fixedDialect, let store, learned.dialect != fixedDialect else { return }
        var isAnother = learned.dialect != nil
        if !isAnother {
            isAnother = try await store.hasIdentifiers(otherThan: fixedDialect.idKind, server: server)
        }
        if isAnother { _ = try await remember(fixedDialect, now: now) }
    }

    private func remember(_ dialect: Dialect, now: Timestamp) async throws(StoreError) -> Bool {
        let isAfresh = try await store?.rememberDialect(dialect, of: server, now: now) ?? false
        if learned.dialect != dialect { learned.acknowledges = nil }
        learned.dialect = dialect
        return isAfresh
    }
}
