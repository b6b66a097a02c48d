import FoundationEssentials
package import StarwatchCore

package struct IdentityChange: Sendable, Hashable {
    package let identity: ActiveIdentity
    /// Whether anything changed; `false` if the identity was already active.
    package let changed: Bool
    /// The number of the former identity's rows that will not be announced.
    package let cancelledRows: Int
    /// The time since which another agent has the identity, so that nothing was changed; `nil` if none has.
    package var hasMovedSince: Timestamp?
}

/// The result of a request to remove an account.
package enum AccountRemoval: Sendable, Hashable {
    /// The account is marked for deletion since that time.
    case removed(at: Timestamp)
    /// The account is signed in or served, so it stays.
    case active
    /// The database contains nothing of the account.
    case unknown
}

/// The result of erasing an account.
package enum AccountErasure: Sendable, Hashable {
    /// The account is erased. `isPurged` is `false` if another program reads the database, so that copies of the deleted
    /// rows stay in its write-ahead log until the next cleanup after that. `keptCopy` is the file name of a copy from before
    /// an upgrade that cannot be deleted.
    case erased(isPurged: Bool, keptCopy: String? = nil)
    /// The account is the active identity. Nothing was erased.
    case active
    /// The database has nothing of the account.
    case unknown
}

/// The active identity and the accounts.
package struct StoreIdentity: Sendable {
    let store: Store

    /// The active identity and its generation.
    package func active() async throws(StoreError) -> ActiveIdentity {
        try await store.direct(.read) { db in try db.identity.active() }
    }

    /// The account and its generation; without an account if it is neither the active identity nor served, or is paused.
    package func active(of account: DID) async throws(StoreError) -> ActiveIdentity {
        if let claimed = store.memory.accounts.look(at: account, \.claimed) {
            return ActiveIdentity(did: account, generation: claimed.lease.generation)
        }
        return try await store.direct(.read) { db in
            let generation = try db.identity.generation(of: account)
            return ActiveIdentity(did: generation.map { _ in account }, generation: generation ?? 0)
        }
    }

    /// Makes `did` the active identity, with all consequences, in one transaction.
    ///
    /// Cancels the former identity's open rows, and closes its notifications and acknowledgement batches. Archives the
    /// stars of both identities. Resets the new identity's watermarks, cursors and stars.
    ///
    /// - Parameters:
    ///   - did: The new identity; `nil` signs out. The active identity changes nothing.
    ///   - server: The server for the new identity's settings, in the form of ``StreamKey/server``.
    package func set(_ did: DID?, server: String, now: Timestamp) async throws(StoreError) -> IdentityChange {
        try await store.write(.identity) { db in
            try db.dataKeys.restore(did)
            let former = try db.identity.active()
            guard former.did != did else {
                try db.run("UPDATE active_identity SET lastUpdated = coalesce(lastUpdated, ?)", [now.milliseconds])
                return IdentityChange(identity: former, changed: false, cancelledRows: 0)
            }
            if let did, let since = try db.moves.goneSince(did) {
                return IdentityChange(identity: former, changed: false, cancelledRows: 0, hasMovedSince: since)
            }
            var cancelled = 0
            if let old = former.did {
                cancelled = try db.identity.close(account: old, now: now)
                try db.stars.archive(of: old, now: now)
            }
            if let did {
                try db.identity.ensureSettings(did, server: server, now: now)
                try db.stars.archive(of: did, now: now)
                try db.identity.restart(did, server: server, now: now)
            }
            let identity = try db.identity.point(to: did, generation: former.generation + 1, now: now)
            return IdentityChange(identity: identity, changed: true, cancelledRows: cancelled)
        }
    }

    /// Activates the configured identity if the database never had one.
    ///
    /// An identity that signed out stays signed out. If the settings name another server, the mirror of the watermark
    /// is reset; cursors belong to (account, server, poll) anyway.
    package func seedIfEmpty(_ did: DID?, server: String, now: Timestamp) async throws(StoreError) -> ActiveIdentity {
        try await store.write(.identity) { db in
            try db.dataKeys.restore(did)
            let current = try db.identity.active()
            if let active = current.did {
                _ = try db.identity.move(active, to: server, now: now)
                return current
            }
            let never = try db.integer("SELECT lastUpdated IS NULL FROM active_identity") == 1
            guard never, let did else { return current }
            try db.identity.ensureSettings(did, server: server, now: now)
            return try db.identity.point(to: did, generation: current.generation + 1, now: now)
        }
    }

    /// Marks an account for deletion with all its data, ``RetentionPolicy/removed`` from now. An earlier
    /// mark keeps its date. Signing in, or serving the account, removes the mark.
    package func removeAccount(_ did: DID, now: Timestamp) async throws(StoreError) -> AccountRemoval {
        try await store.write(.identity) { db in
            if try db.identity.isSignedIn(did) || db.accounts.status(of: did) != nil { return .active }
            let known = try db.integer("SELECT count(*) FROM settings WHERE accountDid = ?", [db.key(did)])
            guard known == 1 else { return .unknown }
            return .removed(at: try db.identity.markRemoved(did, now: now))
        }
    }

    /// Deletes everything of an account now, even if it is served, also from free pages and the write-ahead log. In an encrypted database its
    /// keys are destroyed first, so that copies of the file hold nothing readable of it.
    ///
    /// - Returns: Whether it was erased, or why not.
    package func eraseAccount(_ did: DID) async throws(StoreError) -> AccountErasure {
        try await store.perform { store throws(StoreError) in
            let result: AccountErasure = try store.write(.identity) { db in
                if try db.identity.isSignedIn(did) { return .active }
                let account = db.key(did)
                let known = try db.integer(
                    """
                    SELECT EXISTS (SELECT 1 FROM settings WHERE accountDid = ?1)
                        OR EXISTS (SELECT 1 FROM streams WHERE account = ?1)
                    """,
                    [account]
                )
                guard known == 1 else { return .unknown }
                try db.accounts.leave(did)
                try db.identity.delete(account: account)
                return .erased(isPurged: false)
            }
            guard result == .erased(isPurged: false) else { return result }
            let kept = UpgradeCopy(path: store.options.path).removeAll()
            // Deleted content is overwritten with zeros in the file (`secure_delete`), but stands in the log until this.
            return .erased(isPurged: try StoreStatus.emptyLog(of: store), keptCopy: kept)
        }
    }
}

/// The unique values of an installation: 32 hexadecimal digits, which are the seed of the splay, and a key of 32 random bytes, with
/// which logs hash identities. The key is never logged.
package typealias Installation = (instanceID: String, key: [UInt8])

extension StoreIdentity {
    /// The installation's id and key, created with the database.
    package func installation() async throws(StoreError) -> Installation {
        try await store.direct(.read) { db in
            guard let row = try db.row("SELECT instance_id, installation_key FROM installation") else {
                throw StoreError.damaged
            }
            let key = try db.vault.installation.map { [UInt8]($0) } ?? row["installation_key"]
            return (try row["instance_id"], key)
        }
    }
}
