import Logging
import StarwatchCore
import StarwatchPolling
import StarwatchStore
import StarwatchTelemetry
import StarwatchTransport

/// The active identity, and the data of former ones.
struct IdentityControl: Sendable {
    let account: Account
    let pseudonym: IdentityHash
    let news: EventBroadcaster
    /// Cancels the work for a former identity, and returns when it has ended.
    let endWork: @Sendable () async -> Void
    /// Starts the work for a new identity.
    let startWork: @Sendable () async -> Void

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
            await account.api.requester.gates.noteErased(did)
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
