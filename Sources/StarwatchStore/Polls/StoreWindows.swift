package import StarwatchCore

/// The request windows of accounts.
extension StorePolls {
    /// The request window with which work for an account begins.
    ///
    /// The first call after a claim gets the requests that the lease counts. Those that can have gone before it are counted once
    /// for each lease, by whoever asks first: the visit, or an operator's request before it. Work without a lease counts them each
    /// time.
    package func openRequestWindow(of account: DID) async throws(StoreError) -> RequestWindow {
        let claimed = store.memory.accounts.change(account) { memory in
            let window = memory.takeWindow()
            if window != nil { _ = memory.takeUncounted() }
            return window
        }
        if let claimed { return claimed }
        return try await store.perform { store throws(StoreError) in
            let hasLease = store.memory.accounts.lease(of: account) != nil
            let (stored, hasOthers) = try store.direct(.read) { db in
                (try db.streams.window(of: account), try !hasLease && db.accounts.hasUncounted(account))
            }
            // After the read, which can fail.
            let hasUncounted = store.memory.accounts.change(account) { $0.takeUncounted() } ?? hasOthers
            return RequestWindow(
                stored: stored,
                reserved: 0,
                uncounted: hasUncounted ? AccountLease.requests : 0
            )
        }
    }

    /// Stores an account's request window, before a request and after the clock was set.
    ///
    /// - Parameters:
    ///   - spentAt: The time of the account's last counted request.
    ///   - isKnown: `true` to replace a stored window, but store no first one.
    package func setRequestWindow(
        _ window: [UInt8],
        of account: DID,
        spentAt: Timestamp,
        isKnown: Bool = false
    ) async throws(StoreError) {
        store.memory.accounts.change(account) { _ = $0.takeWindow() }
        try await store.direct(.finishCycle, of: account) { db in
            guard !isKnown else {
                return try db.run(
                    "UPDATE request_windows SET window = ?, spent_at = ? WHERE account = ?",
                    [window.blob, spentAt.milliseconds, db.key(account)]
                )
            }
            try db.streams.setWindow(window, of: account, spentAt: spentAt)
        }
    }

    /// Notes the request window of a served account whose visit ends, without making the caller wait. It is stored with the
    /// release, and at most a second late. After a crash before that, the lease counts its requests.
    package func recordRequestWindow(_ window: [UInt8], of account: DID, spentAt: Timestamp) {
        if store.memory.accounts.write(later: (window, spentAt), of: account) { storeLater() }
    }
}

extension StreamRows {
    /// The stored request window of an account; `nil` if there is none.
    func window(of account: DID) throws -> [UInt8]? {
        try db.value("SELECT window FROM request_windows WHERE account = ?", [db.key(account)])
    }

    /// - Parameter isKnown: `true` to store nothing of an account that is not served and has no window, as after its removal.
    func setWindow(_ window: [UInt8], of account: DID, spentAt: Timestamp, isKnown: Bool = false) throws {
        try db.run(
            """
            INSERT INTO request_windows (account, window, spent_at) SELECT ?1, ?2, ?3
            WHERE ?4 = 0 OR EXISTS (SELECT 1 FROM accounts WHERE account = ?1)
                OR EXISTS (SELECT 1 FROM request_windows WHERE account = ?1)
            ON CONFLICT (account) DO UPDATE SET window = excluded.window, spent_at = excluded.spent_at
            """,
            [db.key(account), window.blob, spentAt.milliseconds, isKnown]
        )
    }
}
