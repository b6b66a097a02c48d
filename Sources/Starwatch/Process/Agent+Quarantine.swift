import StarwatchCore
import StarwatchStore

extension Agent {
    package func quarantineList(_ query: QuarantineQuery) async throws(ControlError) -> [QuarantineEntry] {
        try await counted(.read) { () async throws(ControlError) in
            guard (1...OutboxEntry.listLimit).contains(query.limit) else {
                throw ControlError(.invalid, "The limit must be between 1 and \(OutboxEntry.listLimit).")
            }
            var filter = QuarantineFilter()
            (filter.limit, filter.before) = (query.limit, query.before)
            if let poll = query.poll { filter.poll = try name(poll) }
            do throws(StoreError) {
                return try await store.quarantine(filter).map { QuarantineEntry($0) }
            } catch { throw ControlError(error) }
        }
    }

    package func quarantineDiscard(_ ids: [Int64]) async throws(ControlError) -> Int {
        try await counted(.quarantineDiscard) { () async throws(ControlError) in
            try await discardQuarantined(ids, poll: nil)
        }
    }

    package func quarantineDiscardAll(poll: String?) async throws(ControlError) -> Int {
        try await counted(.quarantineDiscard) { () async throws(ControlError) in
            var wanted: PollName?
            if let poll { wanted = try name(poll) }
            return try await discardQuarantined(nil, poll: wanted)
        }
    }

    private func discardQuarantined(_ ids: [Int64]?, poll: PollName?) async throws(ControlError) -> Int {
        do throws(StoreError) {
            return try await store.discardQuarantined(ids, poll: poll, now: clock.now)
        } catch { throw ControlError(error) }
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
