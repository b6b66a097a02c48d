import Logging
import StarwatchCore
import StarwatchPolling
import StarwatchStore
import StarwatchTelemetry

/// The steps of a cycle of the kind `json`: it walks a list that has no cursor, and stores what was not seen of it.
struct ListRun {
    private typealias Stop = PollCycle.Stop

    let cycle: PollCycle
    private let list: JSONPoll

    /// - Throws: The rejection of a poll without a list, which a host program forgot.
    init(_ cycle: PollCycle) throws(PollCycle.Stop) {
        guard let list = cycle.poll.options.json else {
            let issue = ValidationIssue(path: "json", problem: .missing)
            throw .page(PageRejection(violation: .schema, issues: [issue]))
        }
        (self.cycle, self.list) = (cycle, list)
    }

    private var outbox: StoreOutbox { cycle.store.outbox }

    /// Fetches the list and stores what is new in it, the oldest page first: if the process ends in between, the next run still
    /// finds the rest above what is known.
    func fetchAndStore(_ run: inout CycleRun) async throws(PollCycle.Stop) {
        let stream = run.stream
        let stored = try await stored { outbox throws(StoreError) in try await outbox.listState(of: stream) }
        // At another URL, or with other places of id and version, all that is on the list would be news.
        let isNew = !run.state.bootstrapped || stored?.isForeign(to: list) == true
        let isBootstrap = isNew && cycle.poll.options.bootstrap == .latest
        let known = stored?.valid(for: list) ?? ListState()
        var walk = ListWalk(list, known: known, now: cycle.time.now)
        guard let origins = try await fetch(&run, &walk, known: known) else { return run.result.outcome = .unchanged }
        try await store(walk, origins, known: known, isBootstrap: isBootstrap, &run)
        run.result.outcome = isBootstrap ? .bootstrapped : run.result.new > 0 ? .changed : .unchanged
    }

    /// - Returns: The requests of the pages; `nil` if the list has not changed.
    private func fetch(
        _ run: inout CycleRun,
        _ walk: inout ListWalk,
        known: ListState
    ) async throws(PollCycle.Stop) -> [PageOrigin?]? {
        let options = cycle.poll.options
        let refusals = run.state.refusedPages
        let setsAside = options.quarantineInvalid.isDue(refusals: refusals, validation: options.validation)
        let reader = ListReader(list, setsAside: setsAside)
        var origins: [PageOrigin?] = []
        while let request = walk.next() {
            let isConditional = origins.isEmpty && run.state.bootstrapped && walk.canBeConditional
            let answer = try await run.source.list(request, known: isConditional ? known : nil, by: reader)
            guard let read = answer.page else { return nil }
            cycle.metrics.polls.pages[cycle.poll.label].increment()
            let (page, stream): (ListPage, StreamKey) = (
                try taken { () throws(PageRejection) in try read.get() }, run.stream
            )
            run.result.fetched += page.fetched
            run.result.rejected += page.refused.count
            // Of a stream that starts again, items below known ones can be news.
            let isOld = run.state.bootstrapped
            let isLastKnown = try await stored { outbox throws(StoreError) in
                try await outbox.news(among: page.items.suffix(1), of: stream).isEmpty
            }
            if origins.isEmpty { walk.note(etag: answer.etag, lastModified: answer.lastModified) }
            try taken { () throws(PageRejection) in try walk.receive(page, isLastKnown: isLastKnown && isOld) }
            origins.append(answer.origin)
        }
        if walk.isCut, run.state.bootstrapped {
            cycle.metrics.polls.violations[cycle.poll.label, .cursor].increment()
            run.log(.pollContractViolation, [.kind: "cursor", .path: "max_pages", .problem: "invalid"])
        }
        return origins
    }

    /// Asks for the first page and stores nothing of it.
    ///
    /// - Returns: The number of items.
    func tryPage(of source: inout PageSource) async throws(PollCycle.Stop) -> Int {
        var walk = ListWalk(list, known: ListState(), now: cycle.time.now)
        guard let request = walk.next() else { return 0 }
        let answer = try await source.list(request, known: nil, by: ListReader(list, setsAside: false))
        return try taken { () throws(PageRejection) in try answer.page?.get().fetched ?? 0 }
    }

    /// An unchanged poll writes nothing.
    private func store(
        _ walk: ListWalk,
        _ origins: [PageOrigin?],
        known: ListState,
        isBootstrap: Bool,
        _ run: inout CycleRun
    ) async throws(PollCycle.Stop) {
        let (pages, stream) = (walk.commits, run.stream)
        let listed = pages.flatMap { $0.items.map(\.id) }
        var room = run.state.room
        for (index, page) in pages.enumerated() {
            let isLast = index == pages.count - 1
            let hasNews = try await stored { outbox throws(StoreError) in
                try await !outbox.news(among: page.items, of: stream).isEmpty
            }
            let endsWalk = isLast && (walk.state != known || !run.state.bootstrapped)
            guard hasNews || endsWalk || !page.refused.isEmpty else { continue }
            var commit = ListCommit(
                stream: stream,
                expectedGeneration: run.state.generation,
                runID: cycle.runID,
                items: page.items,
                room: room,
                now: cycle.clock.now
            )
            (commit.origin, commit.number, commit.refused) = (origins[page.number - 1], page.number, page.refused)
            (commit.isBootstrap, commit.priority) = (isBootstrap, cycle.poll.options.priority)
            (commit.listed, commit.state) = (listed, isLast ? walk.state : nil)
            let counts = try await stored { [commit] outbox throws(StoreError) in try await outbox.commit(list: commit)
            }
            guard let counts else { throw .staleIdentity }
            run.report(counts, ofPage: page.number, isNews: !isBootstrap)
            note(counts, isBootstrap: isBootstrap, in: &run.result)
            room -= counts.inserted - counts.suppressed
            if counts.outOfRoom { return }
        }
    }

    private func note(_ counts: PageCommitCounts, isBootstrap: Bool, in result: inout PollCycle.Result) {
        if !isBootstrap { result.new += counts.inserted }
        result.suppressed += counts.suppressed
        if counts.outOfRoom { result.isOutOfRoom = true }
        if counts.fetchCursor != nil { result.cursorMoved = true }
    }

    private func taken<Value>(_ body: () throws(PageRejection) -> Value) throws(PollCycle.Stop) -> Value {
        do throws(PageRejection) { return try body() } catch { throw .page(error) }
    }

    private func stored<Value: Sendable>(
        _ body: (StoreOutbox) async throws(StoreError) -> Value
    ) async throws(PollCycle.Stop) -> Value {
        do throws(StoreError) { return try await body(outbox) } catch { throw .request(.unstored(error)) }
    }
}
