import StarwatchCore
import StarwatchStore
import StarwatchTransport

/// The rows of the outbox, as an operator lists, retries and discards them.
struct OutboxControl: Sendable {
    /// Has the polls, the sinks, the store and the texts.
    let dispatcher: DispatchService
    let wakes: WakeSignals
    /// Names the accounts of rows; `nil` for an agent of one identity.
    let pseudonym: InstallationHash?

    private var store: Store { dispatcher.store }
    /// The one of many accounts whose rows are meant; `nil`: those of all.
    private var account: DID? { dispatcher.account.identity.served }

    func list(_ query: OutboxQuery) async throws -> OutboxListing {
        try ControlError.check(limit: query.limit, upTo: OutboxEntry.listLimit)
        var filter = OutboxFilter()
        filter.limit = query.limit
        filter.after = query.before
        filter.isNewestFirst = true
        if let state = query.state {
            guard let state = OutboxState(rawValue: state) else {
                let words = OutboxState.allCases.map(\.rawValue).joined(separator: ", ")
                throw ControlError(.invalid, "There is no such state; use one of \(words).")
            }
            filter.states = [state]
            filter.includesUndelivered = state == .dead
        }
        filter.poll = try query.poll.map(name)
        filter.isTwice = query.twice
        filter.account = account
        return OutboxListing(entries: try await store.outbox.list(filter).map { entry($0) })
    }

    func show(_ id: Int64) async throws -> OutboxEntry {
        if let detail = try await store.outbox.row(id), isMeant(detail.row) {
            return entry(detail.row, deliveries: detail.deliveries.map(OutboxEntry.Delivery.init))
        }
        throw ControlError(.notFound, "There is no row with that id; starwatch outbox list shows them.")
    }

    private func entry(_ row: OutboxRow, deliveries: [OutboxEntry.Delivery]? = nil) -> OutboxEntry {
        var entry = OutboxEntry(row, deliveries: deliveries, now: dispatcher.now)
        entry.account = pseudonym?.hash(row.stream.account)
        return entry
    }

    func retry(_ rows: RowSelection) async throws -> ChangeCount {
        try rows.check()
        let active = try await dispatcher.account.identity.stored().did
        guard let ids = rows.ids else {
            let poll = try rows.poll.map(name)
            guard let active else { return ChangeCount(changed: 0) }
            return try await makePending(try await store.outbox.ids(.dead, poll: poll, of: active), of: active)
        }
        try await check(ids, to: "retried", in: [.dead]) { row in
            guard row.stream.account != active else { return }
            throw ControlError(
                .conflict,
                "Row \(row.id) is of another identity, and nothing was changed; see starwatch identity set."
            )
        }
        if let row = try await store.outbox.unreadable(among: ids).first {
            throw ControlError(
                .conflict,
                """
                Row \(row) cannot be delivered, because a stored value of it does not open, and nothing was changed; \
                restore a backup, or discard the row.
                """
            )
        }
        guard let active else { return ChangeCount(changed: 0) }
        return try await makePending(ids, of: active)
    }

    func discard(_ rows: DiscardSelection) async throws -> ChangeCount {
        try rows.check()
        if let ids = rows.ids { try await check(ids, to: "discarded", in: [.dead, .claimed]) }
        let renderer = dispatcher.renderer
        let count = try await store.outbox.discard(
            try await discardable(rows),
            by: Operator.current.text,
            now: dispatcher.clock.now,
            make: { renderer.renewed($0) }
        )
        // Discarded rows no longer hold back the watermark.
        if count > 0 { wakes.acknowledge.raise() }
        return ChangeCount(changed: count)
    }

    private func discardable(_ rows: DiscardSelection) async throws -> [Int64] {
        if let ids = rows.ids { return ids }
        let state: OutboxState = rows.state == .claimed ? .claimed : .dead
        return try await store.outbox.ids(state, poll: try rows.poll.map(name), of: account)
    }

    private func makePending(_ ids: [Int64], of account: DID) async throws -> ChangeCount {
        let renderer = dispatcher.renderer
        let count = try await store.outbox.retry(
            ids,
            of: account,
            sinks: dispatcher.sinks.map(\.name),
            now: dispatcher.clock.now,
            make: { renderer.renewed($0) }
        )
        if count > 0 {
            wakes.dispatch.raise()
            // A row counts as delivered if every sink that rejected it has been removed.
            wakes.acknowledge.raise()
        }
        return ChangeCount(changed: count)
    }

    /// Rejects the whole request if one row does not exist or cannot be changed, because a partial change would be a
    /// surprise. Finished rows that an optional sink did not get can be changed too.
    private func check(
        _ ids: [Int64],
        to be: String,
        in states: [OutboxState],
        also check: (OutboxRow) throws -> Void = { _ in }
    ) async throws {
        for id in ids {
            guard let row = try await store.outbox.row(id)?.row, isMeant(row) else {
                throw ControlError(
                    .notFound,
                    "There is no row \(id), and nothing was changed; starwatch outbox list shows what there is."
                )
            }
            let isUndelivered = [.delivered, .acknowledged].contains(row.state) && !row.undeliveredTo.isEmpty
            guard states.contains(row.state) || isUndelivered else {
                let words = states.map(\.rawValue).joined(separator: " or ")
                throw ControlError(
                    .conflict,
                    """
                    Row \(id) is \(row.state.rawValue), and nothing was changed; only rows in the state \(words), or that \
                    a sink did not get, can be \(be).
                    """
                )
            }
            try check(row)
        }
    }

    private func isMeant(_ row: OutboxRow) -> Bool { account == nil || row.stream.account == account }

    private func name(_ poll: String) throws -> PollName {
        poll == PollName.canary.rawValue ? .canary : try dispatcher.polls.named(poll).name
    }
}

extension OutboxEntry {
    fileprivate init(_ row: OutboxRow, deliveries: [Delivery]? = nil, now: Timestamp) {
        self.init(
            id: row.id,
            poll: row.stream.poll.rawValue,
            state: row.state,
            jwtID: row.change.id.rawValue,
            plan: row.change.plan,
            attempts: row.retryCount,
            createdAt: row.createdAt.iso8601
        )
        name = row.change.name
        notificationID = row.notificationID
        undeliveredTo = row.undeliveredTo.isEmpty ? nil : row.undeliveredTo
        if let until = row.heldUntil, until > now { (heldBy, heldUntil) = (row.heldBy, until.iso8601) }
        reason = row.reason
        discardedBy = row.discardedBy
        announcedBy = row.announcedBy
        self.deliveries = deliveries
    }
}

extension OutboxEntry.Delivery {
    init(_ status: SinkStatus) {
        self.init(
            sink: status.sink,
            state: status.state.rawValue,
            attempts: status.attempts,
            rejections: status.rejections,
            nextAttemptAt: status.state == .pending ? status.nextAttemptAt.iso8601 : nil,
            updatedAt: status.updatedAt.iso8601,
            reason: status.reason?.description
        )
    }
}
