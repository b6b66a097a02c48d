import StarwatchCore
import StarwatchStore

/// The invalid items of the server that were set aside.
struct QuarantineControl: Sendable {
    let polls: [Poll]
    let account: Account

    /// The one of many accounts whose items are meant; `nil`: those of all.
    private var served: DID? { account.identity.served }
    private var store: Store { account.environment.store }
    private var clock: ServerClock { account.environment.clock }

    func list(_ query: QuarantineQuery) async throws -> [QuarantineEntry] {
        try ControlError.check(limit: query.limit, upTo: OutboxEntry.listLimit)
        var filter = QuarantineFilter()
        (filter.limit, filter.before, filter.account) = (query.limit, query.before, served)
        filter.poll = try query.poll.map { try polls.named($0).name }
        return try await store.quarantine.list(filter).map { QuarantineEntry($0) }
    }

    func discard(_ ids: [Int64]) async throws -> Int {
        try await store.quarantine.discard(ids, poll: nil, of: served, now: clock.now)
    }

    /// - Parameter poll: The poll whose items are discarded; `nil` means every poll.
    func discardAll(poll: String?) async throws -> Int {
        let name = try poll.map { try polls.named($0).name }
        return try await store.quarantine.discard(nil, poll: name, of: served, now: clock.now)
    }
}

extension QuarantineEntry {
    fileprivate init(_ item: QuarantinedItem) {
        self.init(
            id: item.id,
            poll: item.stream.poll.rawValue,
            kind: item.violation.rawValue,
            jwtID: item.jwtID?.rawValue,
            issues: item.issues.map { Issue(path: $0.path, problem: $0.problem.rawValue) },
            page: item.page,
            runID: item.runID,
            times: item.times,
            createdAt: item.createdAt.iso8601,
            seenAt: item.seenAt.iso8601
        )
    }
}
