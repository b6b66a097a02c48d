import Logging
import StarwatchCore
import StarwatchStore
import StarwatchTelemetry
import StarwatchTransport

/// The pages of a cycle: what is asked for next, and what is stored of each answer.
extension PollCycle {
    /// The answer to one request for a page.
    struct Fetched {
        let response: HTTPResponse
        /// The server's time of the request, as far as it is known.
        let askedAt: Timestamp
        /// The server's `Date`; `nil` if it has none.
        let date: Timestamp?
        /// The time from before the request to after its answer, with all waits.
        let took: Duration
        /// The origin that the stored changes of the page keep; `nil` if nothing was sent.
        let origin: PageOrigin?
    }

    /// The position of a cycle between two pages.
    struct Position {
        let dialect: Dialect
        /// The account and the cursor at the beginning of the cycle, which decide what a change means.
        let context: PageContext
        /// Whether this is the poll's first walk, whose changes are not news.
        let isBootstrap: Bool
        /// The start of the cycle, by the monotonic clock.
        let begun: Duration
        /// Whether invalid items are set aside in this cycle, and the rest of their page is used.
        let setsInvalidAside: Bool
        var cursor: JWTID?
        /// The interrupted walk to resume.
        var resume: OpenWalk?
        /// Rows that the outbox can still take.
        var room: Int
        /// Whether an interrupted walk is stored, of an earlier cycle or a page before.
        var isWalkStored: Bool
        /// The first page, when it was fetched to detect the dialect.
        var first: Fetched?
    }

    /// Fetches and stores every page of the poll.
    ///
    /// - Returns: `false` if the server answered without content before its dialect is known.
    func fetch(
        _ stream: StreamKey,
        state: inout PollState,
        snapshot: IdentityContext.Snapshot,
        into result: inout Result
    ) async throws(Stop) -> Bool {
        guard var position = try await start(stream, state: &state, snapshot: snapshot) else { return false }
        while true {
            let chunks =
                poll.kind == .starredProjects ? identity.chunks(of: snapshot, dialect: position.dialect) : []
            var walk = PageWalk(
                dialect: position.dialect,
                mode: position.isBootstrap ? .bootstrap : .poll,
                cursor: position.cursor,
                resume: position.resume,
                chunks: max(chunks.count, 1),
                isSettled: memory.isSettled(stream, state, position.cursor, snapshot.interests),
                seenUntil: seenUntil(stream, state, position.cursor)
            )
            walk.mustComplete = state.hasTombstones
            memory.move { $0.begin(resuming: walk.wasResumed ? position.resume : nil) }
            let startedAt = clock.now
            // Offers are fetched without a limit.
            while let step = walk.next(limit: position.isBootstrap || chunks.isEmpty ? nil : max(position.room, 1)) {
                let chunk = chunks.isEmpty ? nil : chunks[step.chunk]
                let (answer, page) = try await wholePage(step.query, chunk, stream, snapshot, &position)
                result.fetched += page.fetched
                result.rejected += page.rejected
                let isLate = time.monotonic - position.begun >= shared.longestCycle
                let madeAt = Self.earliestMaking(answer.date, askedAt: answer.askedAt, newest: page.greatest)
                let plan: PageWalk.Plan
                let readSince = Self.earliestReading(answer)
                do throws(PageRejection) {
                    plan = try walk.receive(page, askedAt: madeAt, readSince: readSince, isLast: isLate)
                } catch { throw .page(error) }
                memory.move { $0.receive(readSince: readSince) }
                guard var draft = draft(page, plan, stream, state, position) else { continue }
                draft.origin = answer.origin
                let counts = try await commit(
                    draft,
                    interests: snapshot.interests,
                    &walk,
                    startedAt: startedAt,
                    position
                )
                let former = position.cursor
                advance(&position, &result, by: counts, plan)
                // Ascending pages have shown everything up to the cursor, also of a walk that takes several cycles.
                if !position.dialect.isDescending, chunks.count <= 1, let moved = position.cursor, moved != former {
                    memory.move { $0.pass(moved) }
                }
                if !walk.isComplete, let top = walk.top { memory.move { $0.interrupt(at: top) } }
            }
            try await complete(walk, stream, state, snapshot, position)
            if walk.isComplete { memory.move { $0.complete() } }
            // The interrupted walk is finished; newer changes come in the same cycle.
            guard walk.isComplete, walk.wasResumed else { return true }
            position.resume = nil
        }
    }

    /// The server's time up to which the poll has seen every change; `nil` if it is unknown. Warns of a cursor that is ahead
    /// of the server's time: its clock was set back, or it lost data.
    private func seenUntil(_ stream: StreamKey, _ state: PollState, _ cursor: JWTID?) -> Timestamp? {
        let now = clock.now
        let lead = cursor.map { $0.timestamp - now } ?? .zero
        if memory.noteAhead(clock.isConfirmed && lead > Self.dateError) {
            note(.pollCursorAhead, [.sizeMilliseconds: .number(lead.wholeMilliseconds)])
        }
        return memory.horizon(of: stream) {
            guard let success = state.lastSuccess else { return SeenHorizon() }
            // The stored times of cycles are the local clock's.
            let age = time.now - min(success, state.lastAttempt ?? success)
            return SeenHorizon(stored: state.seenUntil, age: age, kept: outbox.keepDelivered, at: time.boottime)
        }.time
    }

    /// Finds out the dialect, if it is not known, and where the walk begins; `nil` if the answer says neither.
    private func start(
        _ stream: StreamKey,
        state: inout PollState,
        snapshot: IdentityContext.Snapshot
    ) async throws(Stop) -> Position? {
        let begun = time.monotonic
        let setsInvalidAside = poll.options.quarantineInvalid.isDue(
            refusals: state.refusedPages,
            validation: poll.options.validation
        )
        var first: Fetched?
        let dialect: Dialect
        if let known = await gate.dialectToAsk {
            dialect = known
        } else {
            let found = try await probe(stream, snapshot: snapshot, setsInvalidAside: setsInvalidAside)
            guard let probe = found else { return nil }
            dialect = probe.dialect
            if probe.isAfresh {
                do { state = try await readState(stream) } catch { throw .store(error) }
            }
            // Only where the dialect's first request would have been the same, about the same plans.
            let chunk = identity.chunks(of: snapshot, dialect: dialect).first
            if state.fetchCursor == nil, state.walk == nil, probe.chunk == chunk || poll.kind != .starredProjects {
                first = probe.fetched
            }
        }
        let isBootstrap = !state.bootstrapped && poll.options.bootstrap == .latest
        return Position(
            dialect: dialect,
            context: PageContext(author: shared.announcesOwn ? nil : stream.account, cursor: state.fetchCursor),
            isBootstrap: isBootstrap,
            begun: begun,
            setsInvalidAside: setsInvalidAside,
            cursor: state.fetchCursor,
            resume: isBootstrap ? nil : state.walk,
            room: state.room,
            isWalkStored: state.walk != nil,
            first: first
        )
    }

    private func advance(
        _ position: inout Position,
        _ result: inout Result,
        by counts: PageCommitCounts,
        _ plan: PageWalk.Plan
    ) {
        result.isOutOfRoom = result.isOutOfRoom || counts.outOfRoom
        if !position.isBootstrap { position.isWalkStored = plan.walk != nil }
        // Changes stored by bootstrapping are not news.
        result.new += position.isBootstrap ? 0 : counts.inserted + counts.reopened
        result.refetched += counts.refetched
        result.suppressed += counts.suppressed + counts.settled
        position.room -= counts.inserted - counts.suppressed + counts.refetched
        if let moved = counts.fetchCursor, moved != position.cursor {
            position.cursor = moved
            result.cursorMoved = true
        }
    }

    /// Ends a walk that has seen every page.
    private func complete(
        _ walk: PageWalk,
        _ stream: StreamKey,
        _ state: PollState,
        _ snapshot: IdentityContext.Snapshot,
        _ position: Position
    ) async throws(Stop) {
        guard walk.isComplete else { return }
        memory.settle(walk.settledCursor, of: stream, state, snapshot.interests)
        if position.isBootstrap {
            let isCurrent: Bool
            do throws(StoreError) {
                isCurrent = try await store.finishBootstrap(
                    stream,
                    generation: state.generation,
                    interests: snapshot.interests,
                    top: walk.settled,
                    now: clock.now
                )
            } catch { throw .store(error) }
            guard isCurrent else { throw .staleIdentity }
        }
        do { try await gate.confirmDialect(now: clock.now) } catch { throw .store(error) }
    }

    /// Sends one request for a page.
    ///
    /// - Parameter startCursor: The cursor that means "from the beginning"; `nil`: the dialect's.
    func request(
        _ query: PageQuery,
        chunk: PlanChunk?,
        account: DID,
        dialect: Dialect,
        startCursor: String? = nil
    ) async throws(Stop) -> Fetched {
        let start = startCursor ?? dialect.startCursor
        var call = EndorserAPI.Call(
            endpoint: poll.kind.endpoint,
            method: chunk == nil ? .get : .post,
            account: account,
            purpose: .poll,
            runID: runID,
            poll: poll.name
        )
        call.check = AnswerClassifier.unreadable
        if let chunk {
            call.body = query.body(for: chunk, startCursor: start)
            call.idempotencyKey = RandomID.uuid()
        } else {
            call.query = query.items(recipient: poll.kind == .offersToMe ? account : nil, startCursor: start)
        }
        let (wall, monotonic) = (time.now, time.monotonic)
        let reply = await api.reply(to: call, dialect: dialect)
        let number = note(reply.trace)
        switch reply.end {
        case .answer(let response, let askedAt):
            // The monotonic clock can stop while the machine sleeps.
            let took = max(time.monotonic - monotonic, time.now - wall)
            let origin = reply.trace.map {
                PageOrigin(
                    page: number,
                    request: $0,
                    askedAt: askedAt,
                    answeredAt: askedAt + reply.duration,
                    tries: reply.tries
                )
            }
            let date = Self.date(of: response, askedAt: askedAt)
            return Fetched(response: response, askedAt: askedAt, date: date, took: took, origin: origin)
        case .unstored(let error): throw .store(error)
        case let outcome: throw .request(outcome)
        }
    }
}
