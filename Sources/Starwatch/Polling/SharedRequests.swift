import StarwatchCore
import StarwatchPolling
import StarwatchTelemetry
import StarwatchTransport
import Synchronization

/// An account that would take its page from an answer for many accounts.
struct SharedWish: Sendable {
    let stream: StreamKey
    /// ``PollKind/topics(of:)``.
    let topics: [String]
    let dialect: Dialect
    /// ``PageWalk/lowerEnd``.
    let lowerEnd: JWTID?
    /// ``SeenHorizon/time``.
    let seenUntil: Timestamp
    /// The smallest number of changes for which the server's page would have a continuation.
    let limit: Int

    var need: JWTID { SharedTerms.need(lowerEnd: lowerEnd, seenUntil: seenUntil, dialect: dialect) }
}

/// An account's part of an answer, for the topics of one portion.
struct SharedPart: Sendable {
    let answer: SharedReply
    let body: [UInt8]
    /// The request that brought the first of the changes.
    let origin: PageOrigin?
}

/// A complete answer of the server, with the first of its pages, which tells when it was read.
struct SharedReply: Sendable {
    struct First: Sendable {
        let page: PageAnswer
        let response: HTTPResponse
    }

    var content: SharedAnswer
    let first: First
    let origins: [PageOrigin?]

    /// The part of an account; `nil` if it must ask alone. The answer then lacks what the account needs, is older than what
    /// it has seen, or has more for it than one page of the server.
    func part(of topics: [String], for wish: SharedWish) -> SharedPart? {
        guard content.dialect == wish.dialect, content.covers(topics), wish.need.precedes(content.after) == false,
            let readSince = first.page.readSince, readSince >= wish.seenUntil
        else { return nil }
        let part = content.part(of: topics, after: wish.lowerEnd)
        guard part.count < wish.limit else { return nil }
        return SharedPart(answer: self, body: part.body, origin: origins[part.page])
    }
}

/// The requests of a kind of poll for many accounts together, of one server.
///
/// They have no token, so one request for the topics of all serves each (``PollKind/isShared(withTokens:)``). An account takes
/// part if it has seen all that lies before the answer. Otherwise it asks alone. It also does if the answer is of no use. A failure of the server
/// is the failure of each account that would have asked.
final class SharedRequests: Sendable {
    /// The reason why an account gets no part of an answer.
    enum Refusal: Error {
        /// The account asks alone. An answer can also be of no use, so that each does.
        case alone
        /// The account asks alone, and so does each for hours: the server wants no request without a token.
        case rejected
        case failed(RequestFailure)
    }

    /// The last answer for a portion.
    private struct Known: Sendable {
        let content: Result<SharedReply, Refusal>
        /// The time since the machine's start at which the request was sent, or failed.
        let at: Duration

        func isValid(at now: Duration, _ terms: SharedTerms) -> Bool {
            switch content {
            case .success, .failure(.alone): now - at <= terms.life
            case .failure(.rejected): now - at < SharedTerms.rejectionLife
            case .failure(.failed): now - at < SharedTerms.failureLife
            }
        }
    }

    private struct State {
        var plans = SharedPlans()
        var seen = SeenStars()
        var known: [Int: Known] = [:]
        /// The last `Date` of the server, and the time since the machine's start at which its request was sent.
        var date: (server: Timestamp, boottime: Duration)?
    }

    private let metrics: FleetMetrics
    /// The time after which a plan leaves its portion.
    private let kept: Duration
    private let state = Mutex(State())
    private let flights = SingleFlight<Int, Known>()

    /// - Parameter polls: The configured polls of the kind.
    init(metrics: FleetMetrics, polls: [Poll]) {
        self.metrics = metrics
        kept = (polls.map(\.longestGap).max() ?? .zero) * 2 + .seconds(3600)
    }

    /// Notes an account's topics, which the next request asks for.
    func want(_ topics: [String], at boottime: Duration) {
        state.withLock { $0.plans.want(topics, at: boottime) }
    }

    /// Notes that an account has seen all changes of its topics.
    ///
    /// - Parameter isAlone: Whether it asked for its own claims, as it will while others make claims.
    func noteSeen(_ topics: [String], of stream: StreamKey, isAlone: Bool = false, at boottime: Duration) {
        state.withLock { $0.seen.note(topics, of: stream, shares: !isAlone && $0.plans.has(topics), at: boottime) }
    }

    /// The requests of a round of all accounts.
    ///
    /// - Parameters:
    ///   - accounts: The number of active accounts.
    ///   - polls: The configured polls of the kind.
    ///   - isFirst: Whether the first poll of each account counts, which asks alone.
    func round(accounts: Int, polls: [Poll], isFirst: Bool, now: Timestamp) -> FleetRound {
        let answers = polls.compactMap { poll in
            poll.schedule.interval(after: now).map { SharedTerms(interval: $0, gap: poll.longestGap).answers }
        }
        return state.withLock { state in
            // An account that has not been polled shares later, if its plans have room.
            let asking = max(accounts * polls.count - state.seen[.rests], 0)
            let unknown = isFirst || state.plans.isFull ? 0 : max(asking - state.seen.count, 0)
            return FleetRound(
                polls: asking,
                sharing: min(state.seen[.shares] + unknown, asking),
                portions: state.plans.count,
                answers: answers.max() ?? 1
            )
        }
    }

    /// The account's parts of the answers for all of its topics. Asks the server for those that are too old.
    func parts(for wish: SharedWish, of cycle: PollCycle) async throws(Refusal) -> [SharedPart] {
        let now = cycle.time.now
        guard let interval = cycle.poll.schedule.interval(after: now) else { throw .alone }
        let terms = SharedTerms(interval: interval, gap: cycle.poll.longestGap)
        let portions = state.withLock { state -> [(portion: Int, plans: [String])]? in
            guard state.seen.has(wish.topics, of: wish.stream),
                SharedTerms.isWorthwhile(accounts: state.seen.count, portions: state.plans.count)
            else { return nil }
            return state.plans.parts(wish.topics)
        }
        guard let portions, !portions.isEmpty else { throw .alone }
        var parts: [SharedPart] = []
        for (portion, topics) in portions {
            guard let known = await answer(portion, for: wish, terms, of: cycle),
                let part = try known.content.get().part(of: topics, for: wish)
            else { throw .alone }
            parts.append(part)
        }
        return parts
    }

    /// The answer for a portion; `nil` if a new one would have to ask too far back.
    private func answer(
        _ portion: Int,
        for wish: SharedWish,
        _ terms: SharedTerms,
        of cycle: PollCycle
    ) async -> Known? {
        let boottime = cycle.time.boottime
        let (known, date) = state.withLock { ($0.known[portion], $0.date) }
        if let known, known.isValid(at: boottime, terms) { return known }
        let server = date.map { $0.server + (boottime - $0.boottime) } ?? cycle.clock.now
        guard let start = terms.start(for: wish.need, now: server, dialect: wish.dialect) else { return nil }
        let answer = await flights.run(portion) {
            // Another flight can have landed since.
            if let known = self.state.withLock({ $0.known[portion] }), known.isValid(at: cycle.time.boottime, terms) {
                return known
            }
            return await self.ask(portion, wish.dialect, after: start, for: cycle)
        }
        return answer ?? Known(content: .failure(.failed(.failed(.cancelled))), at: boottime)
    }

    // MARK: - Requests

    /// Asks the server for a portion, and keeps the answer.
    private func ask(_ portion: Int, _ dialect: Dialect, after start: JWTID, for cycle: PollCycle) async -> Known {
        let began = cycle.time.boottime
        let topics = state.withLock { $0.plans.plans(of: portion, wantedSince: began - kept) }
        var request = SharedRequest(cycle: cycle, dialect: dialect, topics: topics, after: start)
        let content: Result<SharedReply, Refusal>
        do throws(Refusal) {
            let reply = try await request.reply()
            content = .success(reply)
            await cycle.gate.end(nil, now: cycle.time.now)
        } catch {
            content = if case .failed(let failure) = error { .failure(failure.refusal) } else { .failure(error) }
            // Once, and not by each account that waits for it.
            if case .failure(.failed(.failed(let failure))) = content {
                await cycle.gate.end(failure.failureClass, now: cycle.time.now)
            }
        }
        metrics.sharedRequests.increment(by: UInt64(request.tries))
        // An answer is as old as its request; a failure begins when it is known.
        var at = cycle.time.boottime
        var date: Timestamp?
        if case .success(let reply) = content {
            (at, date) = (reply.first.page.sending.askedBoottime, reply.first.page.date)
        }
        let known = Known(content: content, at: at)
        state.withLock { state in
            if let date { state.date = (date, at) }
            // A cancelled request says nothing.
            if case .failure(.failed(.failed(let failure))) = content, failure.failureClass == .cancelled { return }
            state.known[portion] = known
        }
        return known
    }
}

/// One request for the topics of a portion, with all its pages.
private struct SharedRequest {
    let cycle: PollCycle
    let dialect: Dialect
    let topics: [String]
    let after: JWTID
    /// The number of requests sent.
    private(set) var tries = 0

    init(cycle: PollCycle, dialect: Dialect, topics: [String], after: JWTID) {
        (self.cycle, self.dialect, self.topics, self.after) = (cycle, dialect, topics, after)
    }

    mutating func reply() async throws(SharedRequests.Refusal) -> SharedReply {
        let kind = cycle.poll.kind
        let chunks = kind.namesPlans ? PlanChunk.split(topics, dialect: dialect) : []
        guard chunks.count == (kind.namesPlans ? 1 : 0) else { throw .alone }
        var walk = PageWalk(
            dialect: dialect,
            mode: .poll,
            cursor: after,
            resume: nil,
            chunks: 1,
            pageCap: .max,
            isSettled: true
        )
        var content = SharedAnswer(kind: kind, dialect: dialect, after: after, topics: topics)
        var first: SharedReply.First?
        var origins: [PageOrigin?] = []
        while let step = walk.next(limit: nil) {
            // Ascending pages are read one after the other, and what appears between them would be missed.
            guard first == nil || dialect.isDescending else { throw .alone }
            let next = try await page(step.query, of: chunks.first)
            guard !next.page.isEmpty, !next.page.isCached, next.page.date != nil, content.add(next.response.body),
                let page = try? next.page.page.get(), (try? walk.receive(page, askedAt: nil)) != nil
            else { throw .alone }
            origins.append(next.page.sending.origin)
            first = first ?? next
        }
        guard let first else { throw .alone }
        return SharedReply(content: content, first: first, origins: origins)
    }

    private mutating func page(
        _ query: PageQuery,
        of chunk: PlanChunk?
    ) async throws(SharedRequests.Refusal) -> SharedReply.First {
        let (dialect, time) = (dialect, cycle.time)
        let decoder = PageDecoder(dialect: dialect, kind: cycle.poll.kind, validation: .lenient, quarantine: true)
        let request = cycle.request(query, for: chunk, of: nil, startCursor: dialect.startCursor)
        let (wall, monotonic) = (time.now, time.monotonic)
        let (result, end) = await cycle.api.answer(to: request, dialect: dialect) { response, askedAt in
            PageAnswer.read(response, askedAt: askedAt, by: decoder).map {
                SharedReply.First(page: $0, response: response)
            }
        }
        tries += end.tries
        let answer: SharedReply.First
        do throws(RequestFailure) { answer = try result.get() } catch { throw .failed(error) }
        let page = answer.page.ended(end, since: (wall, monotonic), on: time, page: 1)
        return SharedReply.First(page: page, response: answer.response)
    }
}

extension RequestFailure {
    /// The meaning for the other accounts.
    fileprivate var refusal: SharedRequests.Refusal {
        switch self {
        case .deferred, .unstored: .failed(self)
        case .noToken: .alone
        case .failed(let failure):
            switch failure.failureClass {
            case .network, .timeout, .serverError, .rateLimited, .unavailable, .cancelled: .failed(self)
            case .malformed: .alone
            case .unauthenticated, .refused: .rejected
            }
        }
    }
}
