import StarwatchCore
import StarwatchStore

extension Agent {
    package func outboxList(_ query: OutboxQuery) async throws(ControlError) -> [OutboxEntry] {
        try await counted(.outboxList) { () async throws(ControlError) in
            guard (1...OutboxEntry.listLimit).contains(query.limit) else {
                throw ControlError(.invalid, "The limit must be between 1 and \(OutboxEntry.listLimit).")
            }
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
            }
            if let poll = query.poll { filter.poll = try name(poll) }
            do throws(StoreError) {
                return try await store.outbox(filter).map { OutboxEntry($0) }
            } catch { throw ControlError(error) }
        }
    }

    package func outboxShow(_ id: Int64) async throws(ControlError) -> OutboxEntry {
        try await counted(.outboxShow) { () async throws(ControlError) in
            do throws(StoreError) {
                if let detail = try await store.outboxRow(id) {
                    return OutboxEntry(detail.row, deliveries: detail.deliveries.map(OutboxEntry.Delivery.init))
                }
            } catch { throw ControlError(error) }
            throw ControlError(.notFound, "There is no row with that id; starwatch outbox list shows them.")
        }
    }

    package func outboxRetry(_ ids: [Int64]) async throws(ControlError) -> Int {
        try await counted(.outboxRetry) { () async throws(ControlError) in
            let active: DID?
            do throws(StoreError) { active = try await store.activeIdentity().did } catch { throw ControlError(error) }
            try await checkDead(ids, to: "retried") { row throws(ControlError) in
                guard row.stream.account != active else { return }
                throw ControlError(
                    .conflict,
                    "Row \(row.id) is of another identity, and nothing was changed; see starwatch identity set."
                )
            }
            return try await retry(ids)
        }
    }

    package func outboxRetryAll(poll: String?) async throws(ControlError) -> Int {
        try await counted(.outboxRetry) { () async throws(ControlError) in
            try await retry(try await deadRows(poll, isActiveOnly: true))
        }
    }

    package func outboxDiscard(_ ids: [Int64]) async throws(ControlError) -> Int {
        try await counted(.outboxDiscard) { () async throws(ControlError) in
            try await checkDead(ids, to: "discarded")
            return try await discard(ids)
        }
    }

    package func outboxDiscardAll(poll: String?) async throws(ControlError) -> Int {
        try await counted(.outboxDiscard) { () async throws(ControlError) in
            try await discard(try await deadRows(poll, isActiveOnly: false))
        }
    }

    private func retry(_ ids: [Int64]) async throws(ControlError) -> Int {
        do throws(StoreError) {
            let count = try await store.retry(ids, sinks: sinks.map(\.name), now: clock.now)
            if count > 0 {
                runtime.wakes.dispatch.raise()
                // A row counts as delivered if every sink that rejected it has been removed.
                runtime.wakes.acknowledge.raise()
            }
            return count
        } catch { throw ControlError(error) }
    }

    private func discard(_ ids: [Int64]) async throws(ControlError) -> Int {
        do throws(StoreError) {
            let count = try await store.discard(ids, now: clock.now)
            // Discarded rows no longer hold back the watermark.
            if count > 0 { runtime.wakes.acknowledge.raise() }
            return count
        } catch { throw ControlError(error) }
    }

    /// Rejects the whole request if one row does not exist or is not dead, because a partial change would be a
    /// surprise.
    private func checkDead(
        _ ids: [Int64],
        to be: String,
        also check: (OutboxRow) throws(ControlError) -> Void = { _ throws(ControlError) in }
    ) async throws(ControlError) {
        for id in ids {
            let row: OutboxRow?
            do throws(StoreError) { row = try await store.outboxRow(id)?.row } catch { throw ControlError(error) }
            guard let row else {
                throw ControlError(
                    .notFound,
                    "There is no row \(id), and nothing was changed; starwatch outbox list shows what there is."
                )
            }
            guard row.state == .dead else {
                throw ControlError(
                    .conflict,
                    "Row \(id) is \(row.state.rawValue), and nothing was changed; only rows in the state dead can be \(be)."
                )
            }
            try check(row)
        }
    }

    private func deadRows(_ poll: String?, isActiveOnly: Bool) async throws(ControlError) -> [Int64] {
        var wanted: PollName?
        if let poll { wanted = try name(poll) }
        do throws(StoreError) {
            return try await store.deadRows(poll: wanted, isActiveOnly: isActiveOnly)
        } catch { throw ControlError(error) }
    }

    /// Returns the name of a configured poll. Removed polls can have rows too, but a mistyped name must be an error.
    private func name(_ poll: String) throws(ControlError) -> PollName {
        guard let known = polls.first(where: { $0.name.rawValue == poll })?.name else {
            throw ControlError(.notFound, "There is no poll of that name; starwatch status lists them.")
        }
        return known
    }
}

extension OutboxEntry {
    fileprivate init(_ row: OutboxRow, deliveries: [Delivery]? = nil) {
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
