import Logging
import StarwatchCore
import StarwatchPolling
import StarwatchStore
import StarwatchTelemetry

/// The run of a cycle that can reach the server: its steps in order, and its position between two pages.
///
/// Not copyable, because a copy takes 1,250 instructions (callgrind, `Benchmarks/instructions`). Keep ``time``
/// stored here: it is a protocol's value, so methods get the run's address. Without it each call copies the run's 1,500 bytes.
struct CycleRun: ~Copyable {
    private typealias Stop = PollCycle.Stop

    /// The place from which the next walk continues.
    private struct Place {
        var cursor: JWTID?
        /// The interrupted walk to resume.
        var resume: OpenWalk?
        /// Rows that the outbox can still take.
        var room = 0
        /// Whether this is the poll's first walk, whose changes are not news.
        var isBootstrap = false
        /// Whether an interrupted walk is stored, of an earlier cycle or a page before.
        var isWalkStored = false

        /// The largest number of changes of a page. Offers and gifts are fetched without a limit.
        func limit(of kind: PollKind) -> Int? { isBootstrap || !kind.isOfPlans ? nil : max(room, 1) }

        /// The cursor or, for claims about plans or other claims, the end of what was seen if that is later. A plan that the poll
        /// did not name before can have claims that are years old and no news. And below the cursor the poll would find the last
        /// claim of anybody each time, until it remembers that the cursor is settled.
        func lowerEnd(of kind: PollKind, _ state: PollState, in dialect: Dialect, seenUntil: Timestamp?) -> JWTID? {
            guard kind.namesPlans || kind.walksRows || kind.isOfLinks, !kind.isOfPlans, !isBootstrap, state.walk == nil,
                !state.hasTombstones, let seenUntil, cursor.map({ $0.timestamp < seenUntil }) ?? true
            else { return cursor }
            return .floor(dialect.idKind, at: seenUntil)
        }
    }

    let cycle: PollCycle
    let time: any TimeSource
    let stream: StreamKey
    var snapshot: IdentityContext.Snapshot
    var state: PollState
    var source: PageSource
    private var walk: PageWalk
    /// The start of the walk, by the server's clock.
    private var walkStart = Timestamp(milliseconds: 0)
    /// The start of the run, by the monotonic clock. A change of interests starts it again.
    private var begun: Duration
    private var plans: NamedPlans
    /// The parts of answers that many accounts share, in place of those of ``plans``; `nil` if the account asks alone.
    var parts: [SharedPart]?
    /// Whether the request for many accounts failed.
    var hasSharedFailure = false
    private var place = Place()
    /// The first page, when it was fetched to detect the dialect.
    private var first: PageAnswer?
    var result = PollCycle.Result()
    var circuitFailure: FailureClass?

    init(_ cycle: PollCycle, _ stream: StreamKey, snapshot: IdentityContext.Snapshot, state: PollState) {
        (self.cycle, time, self.stream, self.snapshot, self.state) = (cycle, cycle.time, stream, snapshot, state)
        let decoder = PageDecoder(
            dialect: cycle.api.assumedDialect,
            kind: cycle.poll.kind,
            validation: cycle.poll.options.validation,
            quarantine: false
        )
        source = PageSource(cycle: cycle, stream: stream, decoder: decoder)
        plans = NamedPlans(cycle.poll)
        walk = PageWalk(dialect: decoder.dialect, mode: .poll, cursor: nil, resume: nil, chunks: 1)
        begun = cycle.time.monotonic
    }

    // MARK: - Fetching

    /// Fetches and stores every page of the poll. If the account's interests change meanwhile, it starts again from the
    /// stored cursor.
    mutating func fetchAndStore() async throws(PollCycle.Stop) {
        do throws(Stop) {
            // Without a dialect nothing is known of the changes, so the cycle has found nothing.
            guard try await start() else { return conclude(isWhole: false) }
            repeat {
                try await beginWalk()
                while let step = walk.next(limit: place.limit(of: cycle.poll.kind)) {
                    let (answer, whole) = try await receive(step)
                    let page = try await plans.areLinked ? source.linked(whole, with: &plans) : whole
                    if parts != nil, cycle.poll.kind.isOfLinks, !page.changes.isEmpty {
                        // Only an answer to the account's own token shows it who made the claims.
                        try await beginWalk(isAlone: true)
                        continue
                    }
                    let plan = try plan(page, of: answer)
                    cycle.metrics.polls.pages[cycle.poll.label].increment()
                    if isNew(page, plan) { try await store(page, plan, of: answer) }
                }
                try await endWalk()
            } while continuesWithNewerChanges()
            conclude(isWhole: true)
        } catch {
            guard case .interestsChanged = error else { throw error }
            if try await refresh() { try await fetchAndStore() } else { conclude(isWhole: false) }
        }
    }

    /// Finds out the dialect, if it is not known, and where the walk begins.
    ///
    /// - Returns: `false` if the server answers without content and no dialect is known. The next cycle probes again: a poll
    ///   that started from it would treat every existing change as new.
    private mutating func start() async throws(Stop) -> Bool {
        (begun, first) = (time.monotonic, nil)
        source.decoder.quarantine = cycle.poll.options.quarantineInvalid.isDue(
            refusals: state.refusedPages,
            validation: cycle.poll.options.validation
        )
        if cycle.poll.kind.scope == .ownPlans {
            // The answers move the horizon, so it is read first.
            _ = cycle.horizon(of: stream, state)
            plans.askedBoottime = time.boottime
            let own = try await source.ownClaims()
            cycle.note(own, of: source.lastRequest)
            plans.own = own
        }
        let author = cycle.service.options.delivery.announceOwn ? nil : stream.account
        source.decoder.latest = nil
        var probed: PageAnswer?
        if let known = cycle.gate.known.dialectToAsk {
            source.decoder.dialect = known
        } else {
            source.decoder.context = plans.context(snapshot, author: author)
            guard let probe = try await probe() else { return false }
            probed = probe.firstPage
        }
        let isBootstrap = !state.bootstrapped && cycle.poll.options.bootstrap == .latest
        let cursor = cycle.cursor(of: state, in: source.dialect)
        place = Place(
            cursor: cursor,
            resume: isBootstrap ? nil : state.walk,
            room: state.room,
            isBootstrap: isBootstrap,
            isWalkStored: state.walk != nil
        )
        if let probed, state.walk == nil {
            let seen = cycle.horizon(of: stream, state).time
            // The probe asked from the beginning.
            let end = place.lowerEnd(of: cycle.poll.kind, state, in: source.dialect, seenUntil: seen)
            if end == nil, !cycle.poll.kind.walksRows { first = probed }
        }
        source.decoder.context = plans.context(snapshot, author: author, after: cursor)
        source.decoder.latest = cursor?.timestamp
        return true
    }

    /// Asks for the dialect.
    ///
    /// Not inlined: its variables would make the frame of every cycle larger than what the allocator has at hand.
    ///
    /// - Returns: The probe, with its page if that stands for the first request; `nil` if the answer says nothing.
    @inline(never) private mutating func probe() async throws(Stop) -> PageSource.Probe? {
        let chunk = plans.smallestPart(snapshot)
        if chunk == nil, cycle.poll.kind.namesPlans {
            // Without plans there is nothing to ask for. Either dialect fits then, as after an empty page.
            source.decoder.dialect = cycle.gate.known.dialect ?? source.dialect
            return PageSource.Probe()
        }
        guard var probe = try await source.probe(for: chunk) else { return nil }
        if probe.isAfresh {
            do { state = try await cycle.readState(stream) } catch { throw .request(.unstored(error)) }
        }
        // The probe stands for the first request only if that one asks for the same plans.
        if chunk != plans.split(snapshot, in: source.dialect).first { probe.firstPage = nil }
        return probe
    }

    private mutating func beginWalk(isAlone: Bool = false) async throws(Stop) {
        walkStart = cycle.clock.now
        plans.chunks = plans.split(snapshot, in: source.dialect)
        if cycle.poll.kind.isOfLinks { plans.own = nil }
        let seen = seenUntil()
        walk = newWalk(chunks: max(plans.chunks.count, 1), seenUntil: seen)
        parts = isAlone ? nil : try await sharedParts(seenUntil: seen)
        if let parts, parts.count != max(plans.chunks.count, 1) { walk = newWalk(chunks: parts.count, seenUntil: seen) }
        cycle.memory.move { $0.begin(resuming: walk.wasResumed ? place.resume : nil) }
    }

    private func newWalk(chunks: Int, seenUntil: Timestamp?) -> PageWalk {
        let cursor = place.lowerEnd(of: cycle.poll.kind, state, in: source.dialect, seenUntil: seenUntil)
        var walk = PageWalk(
            dialect: source.dialect,
            mode: place.isBootstrap ? .bootstrap : .poll,
            cursor: cursor,
            resume: place.resume,
            chunks: chunks,
            // Never with tombstones, because they move the cursor back.
            isSettled: state.hasTombstones ? false : cycle.memory.isSettled(.init(cursor, state.generation, snapshot)),
            seenUntil: seenUntil
        )
        walk.mustComplete = state.hasTombstones
        return walk
    }

    /// The account's parts of answers that others share; `nil` if it asks alone, as for its first poll, by hand, to continue a
    /// walk, or to fetch evicted rows again.
    private mutating func sharedParts(seenUntil: Timestamp?) async throws(Stop) -> [SharedPart]? {
        guard let sharing = cycle.sharing else { return nil }
        let topics = cycle.poll.kind.topics(of: snapshot.stars)
        sharing.want(topics, at: time.boottime)
        guard cycle.shares, !place.isBootstrap, first == nil, place.resume == nil, state.walk == nil,
            !state.hasTombstones, let seenUntil
        else { return nil }
        let wish = SharedWish(
            stream: stream,
            topics: topics,
            dialect: source.dialect,
            lowerEnd: walk.lowerEnd,
            seenUntil: seenUntil,
            limit: min(max(place.room, 1), source.dialect.pageSize)
        )
        do throws(SharedRequests.Refusal) { return try await sharing.parts(for: wish, of: cycle) } catch {
            guard case .failed(let failure) = error else { return nil }
            hasSharedFailure = true
            throw .request(failure)
        }
    }

    /// The server's time up to which the poll has seen every change; `nil` if it is unknown. Warns of a cursor that is ahead
    /// of the server's time: its clock was set back, or it lost data.
    private func seenUntil() -> Timestamp? {
        let lead = place.cursor.map { $0.timestamp - walkStart } ?? .zero
        if cycle.memory.isFirstAhead(cycle.clock.isConfirmed && lead > PageAnswer.dateError) {
            log(.pollCursorAhead, [.sizeMilliseconds: .number(lead.wholeMilliseconds)])
        }
        return cycle.horizon(of: stream, state).time
    }

    /// Fetches a page. If its bytes cannot be read and it is time to set the cause aside, finds the item that breaks it.
    private mutating func receive(_ step: PageWalk.Step) async throws(Stop) -> (PageAnswer, Page) {
        let chunk = plans.chunks.isEmpty || parts != nil ? nil : plans.chunks[step.chunk]
        let answer: PageAnswer
        var searched: Page?
        do throws(Stop) {
            if let first {
                answer = first
                self.first = nil
            } else if let parts {
                answer = try source.take(parts[step.chunk])
            } else if chunk == nil, cycle.poll.kind.namesPlans {
                answer = .ofNoPlans(askedAt: cycle.clock.now, at: time.boottime)
            } else {
                answer = try await source.all(step.query, for: chunk)
            }
        } catch {
            guard error.isUnreadable, source.decoder.quarantine else { throw error }
            (answer, searched) = try await source.search(step.query, for: chunk, failure: error)
        }
        // A plan that was starred after the request can have an older change. This page would move the cursor past it.
        guard try await hasSameInterests() else { throw .interestsChanged }
        if let date = answer.date, !answer.isCached {
            let (asked, now) = (answer.sending.askedBoottime, time.boottime)
            cycle.memory.move { $0.observe(date, asked: asked, at: now, tolerance: source.dialect.lateVisibility / 2) }
        }
        if let searched { return (answer, searched) }
        return (answer, try await source.page(of: answer))
    }

    /// Returns `true` if the account's interests are the same as at the start.
    private func hasSameInterests() async throws(Stop) -> Bool {
        do throws(StoreError) {
            let present = try await cycle.identity.current()
            if present === snapshot { return true }
            let (now, then) = (present.interests, snapshot.interests)
            return cycle.poll.kind.needsStars ? now == then : now?.preferences == then?.preferences
        } catch { throw .request(.unstored(error)) }
    }

    /// Reads the account's interests and the stored state again.
    ///
    /// - Returns: Whether the account still wants the poll.
    private mutating func refresh() async throws(Stop) -> Bool {
        let former = snapshot.identity
        do throws(StoreError) {
            (snapshot, state) = (try await cycle.identity.current(), try await cycle.readState(stream))
        } catch { throw .request(.unstored(error)) }
        guard snapshot.identity == former else { throw .staleIdentity }
        return snapshot.expects(cycle.poll.options)
    }

    private mutating func plan(_ page: Page, of answer: PageAnswer) throws(Stop) -> PageWalk.Plan {
        result.fetched += page.fetched
        result.rejected += page.rejected
        let isLate = time.monotonic - begun >= cycle.service.options.limits.cycle
        do throws(PageRejection) {
            let madeAt = answer.madeAt(newest: page.greatest)
            let plan = try walk.receive(page, askedAt: madeAt, readSince: answer.readSince, isLast: isLate)
            cycle.memory.receive(answer, plansAsked: plans.askedBoottime)
            return plan
        } catch { throw .page(error) }
    }

    // MARK: - Storing

    /// Whether there is something to store. An unchanged poll writes nothing: every row is known, there is no walk to end, and
    /// the cursor stays.
    private func isNew(_ page: Page, _ plan: PageWalk.Plan) -> Bool {
        page.rejected > 0 || plan.walk != nil || place.isWalkStored || !state.knows(page.changes, upTo: plan.cursor)
    }

    private func commit(of page: Page, _ plan: PageWalk.Plan, _ origin: PageOrigin?) -> PageCommit {
        var commit = PageCommit(
            stream: stream,
            expectedGeneration: state.generation,
            runID: cycle.runID,
            changes: plan.changes,
            room: place.room,
            now: cycle.clock.now
        )
        commit.expectedInterests = snapshot.interests
        commit.origin = origin
        commit.number = walk.pages
        commit.rejectedCount = page.rejected
        commit.refused = page.refused
        commit.passed = plan.passed
        commit.overlapping = cycle.poll.overlapping
        commit.priority = cycle.poll.options.priority
        commit.interrupted = plan.interrupted
        if place.isBootstrap {
            commit.disposition = .bootstrap
            if let top = walk.settled {
                let floor = walk.dialect.bootstrapFloor(below: top)
                commit.seenOnly = commit.changes.filter { $0.id.precedes(floor) == true }
                commit.changes.removeAll { $0.id.precedes(floor) == true }
            }
            return commit
        }
        commit.cursor = plan.cursor
        commit.walk = plan.walk.map { .save($0) } ?? .clear
        // A resumed walk does not fetch its first pages again. It cannot tell which rows are gone from them.
        if walk.isComplete, !walk.wasResumed, let top = walk.top {
            commit.completed = .init(after: walk.lowerEnd, through: top, startedAt: walkStart)
        }
        return commit
    }

    /// Stores a page in its own span, and moves on.
    private mutating func store(_ page: Page, _ plan: PageWalk.Plan, of answer: PageAnswer) async throws(Stop) {
        let (cycle, commit) = (cycle, commit(of: page, plan, answer.sending.origin))
        let committed: PageCommitCounts?
        do throws(StoreError) {
            committed = try await Trace.span(.commit) { span throws(StoreError) in
                guard let span else { return try await cycle.store.outbox.commit(page: commit) }
                span.set(.poll, cycle.poll.name)
                span.set(.runID, run: cycle.runID)
                span.set(.count, commit.changes.count)
                do throws(StoreError) {
                    let result = try await cycle.store.outbox.commit(page: commit)
                    if let counts = result { span.set(.new, counts.inserted) }
                    return result
                } catch {
                    span.fail(error.kind)
                    throw error
                }
            }
        } catch { throw .request(.unstored(error)) }
        guard let counts = committed else { throw .staleIdentity }
        report(counts, ofPage: walk.pages, isNews: !place.isBootstrap)
        if counts.outOfRoom { walk.stop() }
        if !place.isBootstrap { place.isWalkStored = plan.walk != nil }
        place.room -= counts.inserted - counts.suppressed + counts.refetched
        result.isOutOfRoom = result.isOutOfRoom || counts.outOfRoom
        // Changes stored by bootstrapping are not news.
        result.new += place.isBootstrap ? 0 : counts.inserted + counts.reopened
        result.refetched += counts.refetched
        result.passedOn += counts.passedOn
        result.suppressed += counts.suppressed + counts.settled
        if !walk.isComplete, let top = walk.top { cycle.memory.move { $0.interrupt(at: top) } }
        guard let moved = counts.fetchCursor, moved != place.cursor else { return }
        (place.cursor, source.decoder.latest, result.cursorMoved) = (moved, moved.timestamp, true)
        // Ascending pages have shown everything up to the cursor, even if the walk takes several cycles.
        if !source.dialect.isDescending, plans.chunks.count <= 1 { cycle.memory.move { $0.pass(moved) } }
    }

    /// Counts and logs what a page's commit did. A page can have thousands of newly quarantined items. Ten of them are
    /// logged, each with its first issue.
    func report(_ counts: PageCommitCounts, ofPage page: Int, isNews: Bool) {
        for item in counts.quarantined.prefix(10) {
            guard let issue = item.issues.first else { continue }
            log(
                .pollItemQuarantined,
                [
                    .kind: "\(item.violation.rawValue)", .page: .number(page), .path: "\(issue.path)",
                    .problem: "\(issue.problem.rawValue)",
                ]
            )
        }
        if counts.inserted > 0, isNews {
            cycle.metrics.polls.changesFound[cycle.poll.label].increment(by: UInt64(counts.inserted))
        }
        if counts.unseen > 0 { cycle.metrics.polls.superseded[cycle.poll.label].increment(by: UInt64(counts.unseen)) }
        if counts.outOfRoom { log(.pollOutOfRoom, [.changeCount: .number(counts.inserted)]) }
    }

    /// Ends a walk. One that has seen every page settles the cursor, and ends the bootstrap.
    private mutating func endWalk() async throws(Stop) {
        guard walk.isComplete else {
            let rest = walk.unseen(now: cycle.clock.now)
            return cycle.memory.fellBehind(by: rest, now: time.now, at: time.boottime)
        }
        cycle.memory.settle(.init(walk.settledCursor, state.generation, snapshot))
        var isCurrent = true
        do throws(StoreError) {
            if place.isBootstrap {
                isCurrent = try await cycle.store.polls.finishBootstrap(
                    stream,
                    generation: state.generation,
                    interests: snapshot.interests,
                    top: walk.settled ?? (cycle.poll.kind.walksRows ? walk.lowerEnd : nil),
                    cycle: cycle.success(of: stream, state),
                    now: cycle.clock.now
                )
            }
            if isCurrent { try await cycle.gate.known.confirmDialect(now: cycle.clock.now) }
        } catch { throw .request(.unstored(error)) }
        guard isCurrent else { throw .staleIdentity }
        cycle.memory.move { $0.complete() }
        let topics = cycle.poll.kind.topics(of: snapshot.stars)
        cycle.sharing?.noteSeen(topics, of: stream, isAlone: plans.own != nil, at: time.boottime)
        if parts != nil, source.count == 0 { cycle.metrics.fleet.sharedPolls.increment() }
    }

    /// Returns whether an interrupted walk is finished, so that newer changes remain. They come in the same cycle.
    private mutating func continuesWithNewerChanges() -> Bool {
        guard walk.isComplete, walk.wasResumed else { return false }
        place.resume = nil
        return true
    }

    /// - Parameter isWhole: Whether every page was fetched that there is.
    private mutating func conclude(isWhole: Bool) {
        result.outcome = isWhole && place.isBootstrap ? .bootstrapped : result.new > 0 ? .changed : .unchanged
    }
}
