package import StarwatchCore

/// The result of handing out an account.
package enum AccountHandout: Sendable {
    /// The text of an ``AccountBundle``. This agent no longer serves the account, unless it was a trial. `isNew` is `false`
    /// if it was handed out before. `lost` is ``AccountBundle/lost``.
    case text(String, of: DID, isNew: Bool, lost: [String: Int]?)
    /// A sink has a notification now. Nothing was changed, and no other is sent until ``StoreMoves/stay(_:)``.
    case delivering(DID)
    /// The text would be longer than ``AccountBundle/longestText``. Nothing was changed.
    case tooLong
    /// The account is neither served nor gone.
    case unknown
}

/// The agent that takes in an account.
package struct AccountDestination: Sendable {
    /// Its server, in the form of ``StreamKey/server``.
    package let server: String
    package let sinks: Set<String>
    /// Those that take an address of an account. Other addresses are left out.
    package let addressed: Set<String>
    /// The account's name in notifications; `nil` in an agent for one account.
    package let pseudonym: String?

    package init(server: String, sinks: Set<String>, addressed: Set<String>, pseudonym: String?) {
        (self.server, self.sinks, self.addressed, self.pseudonym) = (server, sinks, addressed, pseudonym)
    }
}

/// The reason why an account cannot be taken in. Nothing was changed then.
package enum MoveProblem: Error, Sendable, Hashable {
    /// The text is no ``AccountBundle``.
    case unreadable
    /// The text is one of another version.
    case otherVersion
    /// It is served here already, and did not come by this move.
    case served
    /// Another identity is active, and there can be one only.
    case otherIdentity
    /// The account has moved again since.
    case outdated
    /// This agent handed it out by this move at that time, and another one can serve it.
    case handedOut(at: Timestamp)
    /// Its server is another one.
    case server(String)
    /// Notifications wait for these sinks, which the destination lacks.
    case sinks([String])
    /// It has signing keys, which only an encrypted database stores.
    case needsEncryption
    /// A place at the server, or a change, lies more than a day ahead of the clock.
    case ahead
    /// Its rows are of another form, or another account has one of its keys.
    case unusable
}

/// The result of taking in an account.
package enum AccountArrival: Sendable, Hashable {
    case arrived
    /// It came by this move before.
    case known
    case refused([MoveProblem])
}

/// The moves of accounts between agents.
///
/// The source closes the account as when its identity signs out, and keeps what it handed out until the account is erased
/// or comes back. So a move that is interrupted can be repeated.
package struct StoreMoves: Sendable {
    let store: Store

    /// Hands out an account and ends its service, in one transaction. Repeating it hands out the same text, without the
    /// secrets of keys that were revoked since.
    ///
    /// No notification of it is sent afterwards, until ``stay(_:)``: the caller first ends the work that does not know yet.
    ///
    /// - Parameters:
    ///   - account: A served account or the active identity; `nil` for the active identity or, without one, the account
    ///     that left last.
    ///   - isTrial: Whether nothing is changed.
    package func handOut(
        _ account: DID?,
        isTrial: Bool,
        now: Timestamp
    ) async throws(StoreError) -> AccountHandout {
        try await store.perform { store throws(StoreError) in
            let named = try store.direct(.read) { db in
                try account ?? db.identity.active().did ?? db.moves.lastGone()
            }
            guard let named else { return .unknown }
            guard !isTrial else { return try Self.handOut(named, isTrial: true, now: now, in: store) }
            guard store.memory.accounts.change(named, { $0.leave() }) else { return .delivering(named) }
            var isGone = false
            defer { if !isGone { store.memory.accounts.change(named) { $0.stay() } } }
            let handout = try Self.handOut(named, isTrial: false, now: now, in: store)
            if case .text(_, _, isNew: true, _) = handout { isGone = true }
            return handout
        }
    }

    private static func handOut(
        _ account: DID,
        isTrial: Bool,
        now: Timestamp,
        in store: isolated Store
    ) throws(StoreError) -> AccountHandout {
        let id = store.options.newKey().prefix(16).map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }
        return try store.write(.identity) { db in
            let last = try db.moves.record(of: account)
            if last?.isGone == true {
                guard let text = try db.moves.handedOut(of: db.key(account)) else { throw StoreError.sealed(.damaged) }
                let lost = try? AccountBundle(text: text).lost
                return AccountHandout.text(text, of: account, isNew: false, lost: lost)
            }
            let status = try db.accounts.status(of: account)
            guard try status != nil || db.identity.isSignedIn(account) else { return .unknown }
            let bundle = try db.moves.bundle(
                of: account,
                move: (id.joined(), (last?.number ?? 0) + 1),
                isPaused: status == .paused
            )
            let text = bundle.text
            guard text.utf8.count <= AccountBundle.longestText else { return .tooLong }
            let handout = AccountHandout.text(text, of: account, isNew: true, lost: bundle.lost)
            guard !isTrial else { return handout }
            try db.moves.note(bundle, text: text, now: now)
            _ = try db.identity.close(account: account, now: now)
            if try !db.accounts.leave(account) { try db.identity.handOver(now: now) }
            return handout
        }
    }

    /// Lets notifications of an account be sent again, which an export stopped.
    package func stay(_ account: DID) { store.memory.accounts.change(account) { $0.stay() } }

    /// Stores an account that another agent handed out, and begins its service, in one transaction.
    ///
    /// Replaces what is stored of it. Repeating it changes nothing.
    ///
    /// - Parameters:
    ///   - isUndo: Whether an account that left by this move can come back, because no other agent took it in.
    ///   - isTrial: Whether nothing is changed. The result is the same.
    ///   - dueAt: The time of the first visit, by the local clock.
    package func take(
        _ bundle: AccountBundle,
        of account: DID,
        into destination: AccountDestination,
        isUndo: Bool = false,
        isTrial: Bool,
        now: Timestamp,
        dueAt: Timestamp
    ) async throws(StoreError) -> AccountArrival {
        try await store.write(.identity) { db in
            if let last = try db.moves.record(of: account), last.number >= bundle.number {
                let isSame = last.number == bundle.number && last.id == bundle.moveID
                if isSame, !last.isGone { return .known }
                if !isSame { return .refused([.outdated]) }
                if !isUndo { return .refused([.handedOut(at: last.movedAt)]) }
            }
            let problems = try db.moves.problems(of: bundle, in: destination, now: now)
            guard problems.isEmpty else { return .refused(problems) }
            let isPossible = try db.attempt(keeps: !isTrial) {
                try db.identity.delete(account: db.key(account))
                try db.dataKeys.enrol(account)
                try db.moves.insert(bundle, into: destination)
                try db.moves.note(bundle, text: nil, now: now)
                if destination.pseudonym != nil {
                    try db.accounts.enter(
                        account,
                        as: bundle.isPaused ? .paused : .active,
                        now: dueAt,
                        dueAt: dueAt
                    )
                } else {
                    let generation = try db.identity.lastGeneration() + 1
                    _ = try db.identity.point(to: account, generation: generation, now: now)
                }
            }
            return isPossible ? .arrived : .refused([.unusable])
        }
    }
}

extension MoveRows {
    /// The reasons why a bundle cannot be stored here.
    fileprivate func problems(
        of bundle: AccountBundle,
        in destination: AccountDestination,
        now: Timestamp
    ) throws -> [MoveProblem] {
        let active = try db.identity.active().did
        if try active == bundle.account || db.accounts.status(of: bundle.account) != nil { return [.served] }
        var problems: [MoveProblem] = []
        if destination.pseudonym == nil, active != nil { problems.append(.otherIdentity) }
        if bundle.server != destination.server { problems.append(.server(bundle.server)) }
        let missing = bundle.waitingSinks.subtracting(destination.sinks)
        if !missing.isEmpty { problems.append(.sinks(missing.sorted())) }
        if bundle.hasSecrets, !db.vault.isSealed { problems.append(.needsEncryption) }
        return problems + [try identifierProblem(of: bundle, now: now)].compactMap(\.self)
    }

    /// Checks identifiers as those of a page are. Positions of another kind would start the streams of all accounts again.
    private func identifierProblem(of bundle: AccountBundle, now: Timestamp) throws -> MoveProblem? {
        guard let all = bundle.identifiers(), let places = bundle.identifiers(isOfPlaces: true) else {
            return .unusable
        }
        let dialect: String? = try db.value("SELECT dialect FROM servers WHERE server = ?", [bundle.server])
        let known = dialect.flatMap(Dialect.init(rawValue:))?.idKind
        if let kind = known ?? places.first?.kind {
            guard places.allSatisfy({ $0.kind == kind }) else { return .unusable }
            // Before the server's first answer, what is stored decides.
            let contradicts = try known == nil && db.streams.hasIdentifiers(otherThan: kind, server: bundle.server)
            if contradicts { return .unusable }
        }
        return all.contains { $0.timestamp > now + .days(1) } ? .ahead : nil
    }
}
