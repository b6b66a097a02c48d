import FoundationEssentials
package import StarwatchCore

/// The addresses that accounts bring.
extension AccountRows {
    /// The stored addresses of an account by their sinks, in a stable order; the address is `nil` if it does not open.
    func sinks(of account: DID) throws -> [(sink: String, isGone: Bool, address: SinkAddress?)] {
        let key = db.key(account)
        return try db.all(
            "SELECT sink, address, gone_at FROM account_sinks WHERE account = ? ORDER BY sink",
            [key]
        ) { row in
            let (sink, stored): (String, Data) = (try row["sink"], try row["address"])
            let address = try ifReadable {
                let bytes = try db.opened(stored, .sinkAddress, row: "\(key)/\(sink)")
                return try JSONDecoder().decode(SinkAddress.self, from: Data(bytes))
            }
            return (sink, try row["gone_at"] as Timestamp? != nil, address)
        }
    }

    /// The states of an account's addresses by their sinks.
    func sinkStates(of key: String) throws -> [String: (state: SinkAddressState, reason: FailureReason?)] {
        var states: [String: (state: SinkAddressState, reason: FailureReason?)] = [:]
        let rows = try db.rows("SELECT sink, gone_at FROM account_sinks WHERE account = ?", [key])
        while let row = try rows.next() {
            states[try row["sink"]] = (try row["gone_at"] as Timestamp? == nil ? .set : .gone, nil)
        }
        // Most accounts bring none.
        guard states.values.contains(where: { $0.state == .set }) else { return states }
        for (sink, reason) in try rejections(of: key) where states[sink]?.state == .set {
            states[sink] = (.rejecting, reason)
        }
        return states
    }

    /// The sinks that rejected everything of an account since its last change, with the last reason.
    private func rejections(of key: String) throws -> [String: FailureReason?] {
        var (counts, reasons): ([String: Int], [String: FailureReason?]) = ([:], [:])
        var accepted: Set<String> = []
        let rows = try db.rows(
            """
            SELECT d.sink, d.state, d.rejections, d.reason FROM deliveries d JOIN (
                SELECT DISTINCT o.notification_id AS id FROM streams s CROSS JOIN notification_outbox o ON o.stream_id = s.id
                WHERE s.account = ?1 AND o.notification_id IS NOT NULL
            ) n ON n.id = d.notification_id JOIN accounts a ON a.account = ?1
            WHERE d.updated_at > a.updated_at AND (d.state = 'ok' OR d.rejections > 0)
            ORDER BY d.updated_at DESC, d.notification_id DESC
            """,
            [key]
        )
        while let row = try rows.next() {
            let sink: String = try row["sink"]
            if try row["state"] as String == "ok" { accepted.insert(sink) }
            guard !accepted.contains(sink) else { continue }
            counts[sink, default: 0] += try row["rejections"] as Int
            if reasons[sink] == nil {
                reasons[sink] = .some((try row["reason"] as String?).flatMap { FailureReason($0) })
            }
        }
        return reasons.filter { counts[$0.key, default: 0] >= SinkCondition.rejectionsOfAll }
    }

    /// Stores the draft's addresses, and deletes those that it takes away.
    ///
    /// - Returns: Whether a stored one differs, or was gone.
    func setSinks(of draft: AccountDraft) throws -> Bool {
        guard !draft.sinks.isEmpty else { return false }
        guard db.vault.isSealed else { throw StoreError.sealed(.notEncrypted) }
        let key = db.key(draft.did)
        let known = try sinks(of: draft.did)
        var hasChanged = false
        for (sink, address) in draft.sinks {
            let former = known.first { $0.sink == sink }
            guard let address else {
                guard former != nil else { continue }
                try db.run("DELETE FROM account_sinks WHERE account = ? AND sink = ?", [key, sink])
                hasChanged = true
                continue
            }
            guard former?.address != address || former?.isGone == true else { continue }
            let bytes = Array(try JSONEncoder().encode(address))
            try db.run(
                """
                INSERT INTO account_sinks (account, sink, address) VALUES (?, ?, ?)
                ON CONFLICT (account, sink) DO UPDATE SET address = excluded.address, gone_at = NULL
                """,
                [key, sink, try db.sealed(bytes, .sinkAddress, of: key, row: "\(key)/\(sink)")]
            )
            hasChanged = true
        }
        return hasChanged
    }
}

extension StoreAccounts {
    /// The addresses that an account has brought, by their sinks; `nil` for one that does not open.
    package func sinks(
        of account: DID
    ) async throws(StoreError) -> [(sink: String, isGone: Bool, address: SinkAddress?)] {
        try await store.direct(.read) { db in try db.accounts.sinks(of: account) }
    }

    /// Notes that an address of an account returned 410 Gone. It gets nothing more, until it is added again. An address that
    /// has replaced it stays.
    package func noteGone(
        _ address: SinkAddress,
        at sink: String,
        of account: DID,
        now: Timestamp
    ) async throws(StoreError) {
        try await store.write(.delivery, of: account) { db in
            guard try db.accounts.sinks(of: account).contains(where: { $0.sink == sink && $0.address == address })
            else {
                return
            }
            try db.run(
                "UPDATE account_sinks SET gone_at = ? WHERE account = ? AND sink = ? AND gone_at IS NULL",
                [now.milliseconds, db.key(account), sink]
            )
        }
    }
}
