import StarwatchCore
import StarwatchStore

/// The interests of the active identity: its starred plans, and the kinds of poll that it opted out of.
struct StarsControl: Sendable {
    let account: Account
    /// The operator's names of projects. They win, as in notifications.
    let names: [String: String]
    /// Starts the polls that can run with other stars.
    let startPolls: @Sendable () -> Void

    private var store: Store { account.environment.store }
    private var now: Timestamp { account.environment.clock.now }

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
        let (server, now) = (account.server, now)
        let stars =
            switch change.operation {
            case .set: try await store.stars.set(change.planIDs, of: did, server: server, now: now)
            case .add: try await store.stars.add(change.planIDs, of: did, server: server, now: now)
            case .remove: try await store.stars.remove(change.planIDs, of: did, server: server, now: now)
            case .optOut, .optIn:
                try await store.stars.setOptedOut(change.operation == .optOut, of: did, server: server, now: now)
            case .restore: try await store.stars.restore(of: did, server: server, now: now)
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
            now: now
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
