import StarwatchCore
import StarwatchPolling
import StarwatchStore

/// The run of a poll of the kind `json`: it walks a list that has no cursor, and stores what it has not seen.
extension CycleRun {
    /// Fetches the list and stores what is new in it, the oldest page first: if the process ends in between, the next run still
    /// finds the rest above what is known.
    mutating func fetchAndStoreList() async throws(PollCycle.Stop) {
        guard let list = cycle.poll.options.json else { throw .page(.notAList) }
        let known = try await storedState(of: list)
        let isBootstrap = !state.bootstrapped && cycle.poll.options.bootstrap == .latest
        var walk = ListWalk(list, known: known, isBootstrap: isBootstrap, now: time.now)
        guard let origins = try await fetch(list, known: known, &walk) else { return result.outcome = .unchanged }
        try await store(walk, origins, isBootstrap: isBootstrap, known: known)
        result.outcome = isBootstrap ? .bootstrapped : result.new > 0 ? .changed : .unchanged
    }

    private func storedState(of list: JSONPoll) async throws(PollCycle.Stop) -> ListState {
        do throws(StoreError) {
            return try await cycle.store.outbox.listState(of: stream)?.valid(for: list) ?? ListState()
        } catch { throw .request(.unstored(error)) }
    }

    /// - Returns: The requests of the pages; `nil` if the list has not changed.
    private mutating func fetch(
        _ list: JSONPoll,
        known: ListState,
        _ walk: inout ListWalk
    ) async throws(PollCycle.Stop) -> [PageOrigin?]? {
        let setsAside = cycle.poll.options.quarantineInvalid.isDue(
            refusals: state.refusedPages,
            validation: cycle.poll.options.validation
        )
        let reader = ListReader(list, setsAside: setsAside)
        var origins: [PageOrigin?] = []
        while let request = walk.next() {
            let validators = origins.isEmpty && state.bootstrapped && walk.canBeConditional ? known : nil
            let answer = try await source.list(request, headers: list.headers, known: validators, by: reader)
            guard let read = answer.page else { return nil }
            cycle.metrics.polls.pages[cycle.poll.label].increment()
            let page: ListPage
            do throws(PageRejection) { page = try read.get() } catch { throw .page(error) }
            result.fetched += page.fetched
            result.rejected += page.refused.count
            let isLastKnown: Bool
            do throws(StoreError) {
                let last = Array(page.items.suffix(1))
                isLastKnown = try await cycle.store.outbox.news(among: last, of: stream).isEmpty
            } catch { throw .request(.unstored(error)) }
            if origins.isEmpty { walk.note(etag: answer.etag, lastModified: answer.lastModified) }
            do throws(PageRejection) { try walk.receive(page, isLastKnown: isLastKnown) } catch { throw .page(error) }
            origins.append(answer.origin)
        }
        return origins
    }

    private mutating func store(
        _ walk: ListWalk,
        _ origins: [PageOrigin?],
        isBootstrap: Bool,
        known: ListState
    ) async throws(PollCycle.Stop) {
        let pages = walk.commits
        let listed = pages.flatMap { $0.items.map(\.id) }
        var room = state.room
        for (index, page) in pages.enumerated() {
            let isLast = index == pages.count - 1
            do throws(StoreError) {
                let news = try await cycle.store.outbox.news(among: page.items, of: stream)
                // An unchanged poll writes nothing.
                let isNew = !news.isEmpty || !page.refused.isEmpty || isLast && (walk.state != known || !state.bootstrapped)
                guard isNew else { continue }
                var commit = ListCommit(
                    stream: stream,
                    expectedGeneration: state.generation,
                    runID: cycle.runID,
                    items: page.items,
                    room: room,
                    now: cycle.clock.now
                )
                (commit.origin, commit.number, commit.refused) = (origins[page.number - 1], page.number, page.refused)
                (commit.isBootstrap, commit.priority) = (isBootstrap, cycle.poll.options.priority)
                (commit.listed, commit.state) = (listed, isLast ? walk.state : nil)
                guard let counts = try await cycle.store.outbox.commit(list: commit) else { throw StoreError.leaseLost }
                report(counts, ofPage: page.number, isNews: !isBootstrap)
                note(counts, isBootstrap: isBootstrap)
                room -= counts.inserted
                if counts.outOfRoom { return }
            } catch { throw .request(.unstored(error)) }
        }
    }

    private mutating func note(_ counts: PageCommitCounts, isBootstrap: Bool) {
        result.new += isBootstrap ? 0 : counts.inserted
        result.suppressed += counts.suppressed
        result.isOutOfRoom = result.isOutOfRoom || counts.outOfRoom
        result.cursorMoved = result.cursorMoved || counts.fetchCursor != nil
    }
}

extension PageRejection {
    /// The rejection of a list without settings, which a host program forgot.
    fileprivate static let notAList = PageRejection(
        violation: .schema,
        issues: [ValidationIssue(path: "json", problem: .missing)]
    )
}
