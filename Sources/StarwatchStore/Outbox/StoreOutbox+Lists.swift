package import StarwatchCore

/// Lists of servers without cursors: what was seen of them is remembered, and a change gets its identifier where it is stored.
extension StoreOutbox {
    /// The state of a list; `nil` before its first complete walk.
    ///
    /// A list whose key does not open begins anew: nobody can tell what was seen of it.
    ///
    /// - Throws: ``StoreError/sealed(_:)`` for such a list, because the poll has read its state before.
    package func listState(of stream: StreamKey) async throws(StoreError) -> ListState? {
        try await store.perform { store throws(StoreError) in
            let found = try store.direct(.read, of: stream) { db, id in
                try ifReadable { try db.outbox.lists.seen(of: id).flatMap { _ in try db.outbox.lists.state(of: id) } }
            }
            if let found { return found }
            try store.write(.edit, of: stream) { db, id in
                try db.outbox.lists.forget(id)
                try db.streams.restart("id = ?", [id])
            }
            throw .sealed(.damaged)
        }
    }

    /// The items that the poll has not seen, or only in an earlier version, in their order.
    package func news(among items: [ListItem], of stream: StreamKey) async throws(StoreError) -> [ListItem] {
        guard !items.isEmpty else { return [] }
        return try await store.direct(.read, of: stream) { db, id in
            guard let seen = try db.outbox.lists.seen(of: id) else { return items }
            return try items.filter { try seen.sight(of: $0).isNews }
        }
    }

    /// Stores a page of a list: new rows, ledger, fetch cursor, what was seen and the state of the list, in one transaction.
    ///
    /// Stops before the first new item without room, which stays unseen. A bootstrap ends with the page that has a state, and
    /// survives a power loss, as ``StorePolls/finishBootstrap(_:generation:interests:top:cycle:now:)`` does.
    ///
    /// - Returns: `nil` if nothing was written, because the identity changed since the cycle began.
    package func commit(list: ListCommit) async throws(StoreError) -> PageCommitCounts? {
        let operation = list.isBootstrap ? StoreOperation.bootstrap : .commit
        return try await store.perform { store throws(StoreError) in
            let counts: PageCommitCounts? = try store.write(operation, of: list.stream) { db, id in
                guard try db.identity.isCurrent(list.stream.account, generation: list.expectedGeneration) else {
                    return nil
                }
                return try ListInsertion(list: list, stream: id, db: db).run()
            }
            if counts != nil, list.isBootstrap, list.state != nil { _ = try StoreStatus.emptyLog(of: store) }
            return counts
        }
    }
}

/// The storing of one page of a list, in the transaction of its commit.
private struct ListInsertion {
    let list: ListCommit
    let stream: Int64
    let db: Session

    func run() throws -> PageCommitCounts {
        let seen = try db.outbox.lists.madeSeen(of: stream)
        let counts = try list.isBootstrap ? remember(in: seen) : announce(seen)
        if let state = list.state, !counts.outOfRoom { try db.outbox.lists.store(state, of: stream) }
        return counts
    }

    /// Remembers the items of a poll that never ran before.
    private func remember(in seen: SeenItems) throws -> PageCommitCounts {
        for item in list.items {
            let sight = try seen.sight(of: item)
            if sight.isNews { try seen.remember(sight, list.now) }
        }
        try trim(seen)
        var counts = PageCommitCounts()
        counts.handled = list.items.count
        if list.state != nil {
            let top = JWTID.next(after: try db.outbox.lists.lastIdentifier(of: stream), of: stream, at: list.now)
            try db.streams.finishBootstrap(of: list.stream, stream, top: top, list.now)
            counts.fetchCursor = top
        }
        return counts
    }

    /// Stores the news among the items, as far as there is room.
    private func announce(_ seen: SeenItems) throws -> PageCommitCounts {
        var page = page
        var (known, isOutOfRoom) = (0, false)
        var last = try db.outbox.lists.lastIdentifier(of: stream)
        for item in list.items {
            let sight = try seen.sight(of: item)
            guard sight.isNews else {
                known += 1
                continue
            }
            guard page.changes.count < list.room else {
                isOutOfRoom = true
                break
            }
            let id = JWTID.next(after: last, of: stream, at: list.now)
            var change = Change(id: id, plan: item.id, name: item.name, isEdition: sight.isEdition)
            change.details = item.details
            page.changes.append(FetchedChange(change))
            try seen.remember(sight, list.now)
            last = id
        }
        var insertion = try PageInsertion(page, stream, db, known: known)
        var counts = try insertion.run()
        counts.outOfRoom = isOutOfRoom
        if counts.inserted > 0 { try trim(seen) }
        return counts
    }

    private func trim(_ seen: SeenItems) throws { try seen.trim(keeping: list.listed + list.items.map(\.id)) }

    /// The page without its changes.
    private var page: PageCommit {
        var page = PageCommit(
            stream: list.stream,
            expectedGeneration: list.expectedGeneration,
            runID: list.runID,
            changes: [],
            room: list.room,
            now: list.now
        )
        (page.origin, page.number, page.priority) = (list.origin, list.number, list.priority)
        (page.refused, page.rejectedCount) = (list.refused, list.refused.count)
        page.cursor = .followItems(upTo: nil)
        return page
    }
}
