import Logging
import StarwatchCore
import StarwatchPolling
import StarwatchStore
import StarwatchTelemetry
import StarwatchTransport

/// The active identity with its interests: its starred plans, and the kinds of poll that it opted out of. Also the data of
/// former ones.
struct IdentityControl: Sendable {
    let account: Account
    let pseudonym: InstallationHash
    /// The operator's names of projects. They win, as in notifications.
    let names: [String: String]
    let news: EventBroadcaster
    /// Cancels the work for a former identity, and returns when it has ended.
    let endWork: @Sendable () async -> Void
    /// Starts the polls that can run for another identity, or with other stars.
    let startPolls: @Sendable () -> Void
    /// Notes the age of the identity's signing key.
    let noteKeyAge: @Sendable () async -> Void

    var environment: Environment { account.environment }
    var store: Store { environment.store }

    func current() async throws -> IdentityReport { try await report(try await account.identity.stored()) }

    /// Changes the identity. Cycles of the previous one are cancelled and cannot store anything.
    func set(_ choice: IdentityChoice) async throws -> IdentityReport {
        let did = try choice.account()
        if let did {
            do throws(TokenError) { try await account.api.tokens.validate(account: did) } catch {
                throw ControlError(.invalid, error.description)
            }
        }
        do {
            let change = try await store.identity.set(did, server: account.server, now: environment.clock.now)
            if let since = change.hasMovedSince { throw ControlError.hasMoved(since: since) }
            if change.changed { await follow(to: did, cancelledRows: change.cancelledRows) }
            return try await report(change.identity)
        } catch let error as ControlError {
            throw error
        } catch {
            // A failed commit can still have reached the disk.
            account.identity.invalidate()
            await endWork()
            await startWork()
            throw error
        }
    }

    /// Ends the work for the former identity, and starts that for the one that the database has now.
    func follow(to did: DID?, cancelledRows: Int) async {
        account.identity.invalidate()
        await endWork()
        await account.api.tokens.forget()
        await startWork()
        noteChange(to: did, cancelledRows: cancelledRows)
    }

    private func startWork() async {
        startPolls()
        await noteKeyAge()
    }

    private func noteChange(to did: DID?, cancelledRows: Int) {
        environment.metrics.clock.identityChanges.increment()
        news.publish(.identityChanged(did))
        var fields: AgentEvent.Fields = [.rowCount: .number(cancelledRows)]
        if let did { fields[.identity] = "\(pseudonym.hash(did))" }
        environment.logger.log(.identityChanged, fields)
    }

    func remove(_ removal: IdentityRemoval) async throws -> IdentityRemovalReport {
        switch try await store.identity.removeAccount(try removal.account(), now: environment.clock.now) {
        case .removed(let time):
            return IdentityRemovalReport(keptUntil: (time + RetentionPolicy().removed).iso8601)
        case .active: throw Self.isActive
        case .unknown: throw Self.isUnknown
        }
    }

    func erase(_ removal: IdentityRemoval) async throws -> IdentityErasureReport {
        let did = try removal.account()
        switch try await store.identity.eraseAccount(did) {
        case .erased(let isPurged, let keptCopy):
            environment.logger.log(.identityErased, [.identity: "\(pseudonym.hash(did))"])
            if let keptCopy { throw Self.remains(in: keptCopy) }
            return IdentityErasureReport(purged: isPurged)
        case .active: throw Self.isActive
        case .unknown: throw Self.isUnknown
        }
    }

    private static let isActive = ControlError(.conflict, "That identity is signed in; sign out or change it first.")
    static func remains(in copy: String) -> ControlError {
        ControlError(
            .failed,
            "The identity is erased from the database, but not from its copy \(copy), which cannot be deleted; check the folder "
                + "of the database, then delete that file."
        )
    }

    private static let isUnknown = ControlError(.notFound, "Nothing is stored of that identity.")

    private func report(_ identity: ActiveIdentity) async throws(StoreError) -> IdentityReport {
        var report = IdentityReport(
            did: identity.did?.rawValue,
            generation: identity.generation,
            pseudonym: identity.did.map(pseudonym.hash)
        )
        if let did = identity.did {
            let off = try await IdentityContext.optedOut(of: did, in: store)
            report.optedOut = off.isEmpty ? nil : off
        }
        return report
    }

    // MARK: - Interests

    func listing() async throws -> StarsListing {
        let did = try await account.identity.signedIn()
        let stars = try await store.stars.list(of: did)
        let starred = Set(stars)
        let names = try await store.stars.planNames(of: did, server: account.server)
            .merging(names) { $1 }
            .filter { starred.contains($0.key) }
        return StarsListing(planIDs: stars, names: names)
    }

    func change(_ change: StarsChange) async throws -> StarsListing {
        let did = try await account.identity.signedIn()
        guard change.planIDs.allSatisfy({ (1...2048).contains($0.unicodeScalars.count) }) else {
            throw ControlError(.invalid, "A plan identifier is empty or longer than 2,048 characters.")
        }
        try await check(change, of: did)
        // Needed after a failure too, because the change can be stored despite it.
        defer {
            account.identity.invalidate()
            startPolls()
        }
        let (server, now) = (account.server, environment.clock.now)
        let (plans, named) = (change.planIDs, Set(change.planIDs))
        let stars =
            switch change.operation {
            case .optOut, .optIn:
                try await store.stars.setOptedOut(change.operation == .optOut, of: did, server: server, now: now)
            case let operation:
                try await store.stars.change(of: did, server: server, now: now) { stars, archived in
                    switch operation {
                    case .add: stars + plans
                    case .remove: stars.filter { !named.contains($0) }
                    case .restore: stars + (try archived())
                    case .set, .optOut, .optIn: plans
                    }
                }
            }
        wake()
        return StarsListing(planIDs: stars)
    }

    /// Switches a kind of poll off or on. The stars stay.
    func choose(_ choice: KindChoice) async throws -> KindListing {
        let did = try await account.identity.signedIn()
        // Needed after a failure too, because the change can be stored despite it.
        defer {
            account.identity.invalidate()
            startPolls()
        }
        _ = try await store.stars.setOptedOut(
            choice.optedOut,
            from: choice.kind,
            of: did,
            server: account.server,
            now: environment.clock.now
        )
        wake()
        return KindListing(optedOut: try await IdentityContext.optedOut(of: did, in: store))
    }

    /// Wakes both workers: what was suppressed can be acknowledged, and another poll can announce it instead.
    private func wake() {
        account.wakes.dispatch.raise()
        account.wakes.acknowledge.raise()
    }

    func archived() async throws -> StarsArchive {
        let archived = try await store.stars.archived(of: try await account.identity.signedIn())
        return StarsArchive(
            archived: archived.map { ArchivedStarsReport(archivedAt: $0.archivedAt.iso8601, planIDs: $0.stars) }
        )
    }

    /// Rejects a change to too many stars, and one that would keep a part of stars that nobody can read, because it would
    /// lose the rest.
    private func check(_ change: StarsChange, of did: DID) async throws {
        try checkCount(change.planIDs.count)
        guard [.add, .remove, .restore].contains(change.operation) else { return }
        let interests = try await store.stars.interests(of: did)
        if interests.areStarsUnreadable {
            throw ControlError(
                .conflict,
                "The stored stars are not a list of plan identifiers, and nothing was changed; replace them with starwatch stars set."
            )
        }
        if change.operation == .add { try checkCount(Set(interests.stars + change.planIDs).count) }
    }

    private func checkCount(_ plans: Int) throws {
        guard plans > StarsChange.planLimit else { return }
        throw ControlError(.invalid, "An identity can star at most 10,000 plans; remove some first, or send fewer.")
    }
}

extension ControlError {
    /// Refuses the work for an account that another agent has.
    static func hasMoved(since time: Timestamp) -> ControlError {
        ControlError(
            .conflict,
            "This account moved to another agent at \(time.iso8601); export it there and import it here, or erase it here first."
        )
    }
}

extension IdentityContext {
    /// Returns the kinds of poll that an account's preferences switch off.
    static func optedOut(of did: DID, in store: Store) async throws(StoreError) -> [PollKind] {
        let off = WantedPolls.optedOut(try await store.stars.interests(of: did).preferences)
        return PollKind.allCases.filter(off.contains)
    }
}
