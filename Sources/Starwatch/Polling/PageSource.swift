import Logging
import StarwatchCore
import StarwatchPolling
import StarwatchStore
import StarwatchTelemetry
import StarwatchTransport

/// Asks the server for the pages of a cycle.
struct PageSource {
    let cycle: PollCycle
    let stream: StreamKey
    /// Reads the answers. Its dialect is that of the requests.
    var decoder: PageDecoder
    /// The number of requests.
    private(set) var count = 0
    /// The identifiers of the last request; `nil` before the first.
    private(set) var lastRequest: RequestTrace?
    /// The endpoint of the last request; `nil` before the first.
    private(set) var lastEndpoint: Endpoint?
    /// The HTTP status of the last request's answer, and its duration. Not the whole answer, because a cycle copies it.
    private(set) var lastStatus: Int?
    private(set) var lastDuration = Duration.zero

    var dialect: Dialect { decoder.dialect }

    init(cycle: PollCycle, stream: StreamKey, decoder: PageDecoder) {
        (self.cycle, self.stream, self.decoder) = (cycle, stream, decoder)
    }

    /// Sends one request for a page.
    ///
    /// - Parameter startCursor: The cursor that means "from the beginning"; `nil`: the dialect's.
    mutating func request(
        _ query: PageQuery,
        for chunk: PlanChunk?,
        startCursor: String? = nil
    ) async throws(PollCycle.Stop) -> PageAnswer {
        let (time, decoder) = (cycle.time, presentDecoder)
        let start = startCursor ?? dialect.startCursor
        let request = cycle.request(query, for: chunk, of: stream.account, startCursor: start)
        let (wall, monotonic) = (time.now, time.monotonic)
        let (answer, end) = try await answer(to: request) { PageAnswer.read($0, askedAt: $1, by: decoder) }
        return answer.ended(end, since: (wall, monotonic), on: time, page: count)
    }

    /// Sends the request for a page and, where pages go by rows, those for all that follow it, as one page.
    mutating func all(_ query: PageQuery, for chunk: PlanChunk?) async throws(PollCycle.Stop) -> PageAnswer {
        let answer = try await request(query, for: chunk)
        guard cycle.poll.kind.walksRows, case .success(let page) = answer.page else { return answer }
        return answer.with(page: .success(try await rows(after: page, of: query, for: chunk)))
    }

    /// Requests the pages that follow the first one of a report whose pages go by rows, and returns them as one page.
    ///
    /// Not inlined: its variables would make the frame of every request larger than what the allocator has at hand.
    @inline(never) private mutating func rows(
        after first: Page,
        of query: PageQuery,
        for chunk: PlanChunk?
    ) async throws(PollCycle.Stop) -> Page {
        var (query, page, last, count) = (query, first, first, 1)
        while last.hasMore || last.fetched >= dialect.pageSize {
            guard let row = last.lastRow, query.row.map({ row < $0 }) ?? true, count < OwnClaims.mostPages else {
                throw .page(PageRejection(violation: .cursor, issues: []))
            }
            query.row = row
            last = try await self.page(of: request(query, for: chunk))
            page.add(last, in: dialect)
            cycle.metrics.polls.pages[cycle.poll.label].increment()
            count += 1
        }
        page.isWhole = true
        return chunk?.search.map { search in page.only { search.finds($0.location) ? $0 : nil } } ?? page
    }

    /// Sends one request for a page of a list.
    ///
    /// - Parameter known: The validators of a conditional request; `nil` for another one.
    mutating func list(
        _ request: ListRequest,
        known: ListState?,
        by reader: ListReader
    ) async throws(PollCycle.Stop) -> ListAnswer {
        var message = cycle.request(.list, of: nil)
        (message.url, message.validators) = (request.url, known)
        let isConditional = known?.etag != nil || known?.lastModified != nil
        let (wall, page) = (cycle.time.now, count + 1)
        let (answer, end) = try await answer(to: message) { response, askedAt in
            ListAnswer.read(response, to: request, isConditional: isConditional, by: reader)
        }
        guard let trace = end.trace else { return answer }
        return answer.asked(
            PageOrigin(page: page, request: trace, askedAt: wall, answeredAt: wall + end.duration, tries: end.tries)
        )
    }

    private mutating func answer<Answer: Sendable>(
        to request: EndorserRequest,
        _ read: @escaping @Sendable (HTTPResponse, Timestamp) -> Result<Answer, APIFailure>
    ) async throws(PollCycle.Stop) -> (Answer, RequestEnd) {
        let (result, end) = await cycle.api.answer(to: request, dialect: dialect, read)
        count += 1
        lastEndpoint = request.endpoint
        lastRequest = end.trace ?? lastRequest
        (lastStatus, lastDuration) = (end.status, end.duration)
        // A proxy answers these by itself.
        if request.endpoint.isOptional, let status = end.status, ![404, 502, 503, 504].contains(status) {
            cycle.gate.known.find(request.endpoint)
        }
        switch result {
        case .success(let answer): return (answer, end)
        case .failure(let failure): throw .request(failure)
        }
    }

    /// Takes the account's part of an answer that many accounts share, which is no request of its own.
    mutating func take(_ part: SharedPart) throws(PollCycle.Stop) -> PageAnswer {
        lastRequest = part.origin?.request ?? lastRequest
        (lastStatus, lastDuration) = (part.answer.first.response.status, part.answer.first.page.sending.took)
        do throws(APIFailure) { return try PageAnswer.read(part, by: presentDecoder).get() } catch {
            throw .request(.failed(error))
        }
    }

    /// The decoder, with the latest time that an identifier can have now.
    private var presentDecoder: PageDecoder {
        var decoder = decoder
        if let server = cycle.memory.serverTime(at: cycle.time.boottime) {
            decoder.latest = max(decoder.latest ?? server, server + PageAnswer.longestDoubt)
        }
        return decoder
    }

    /// Result of the first page from a server with an unknown dialect.
    struct Probe {
        /// `true` if the server has changed its dialect and its streams start again.
        var isAfresh = false
        /// `nil` if the server was asked for a page without items.
        var firstPage: PageAnswer?
    }

    /// Requests the first page from a server with an unknown or doubtful dialect, in a form that both dialects
    /// understand. The answer decides about ``dialect``.
    ///
    /// - Returns: `nil` if the server answers without content and no dialect is known.
    mutating func probe(for chunk: PlanChunk?) async throws(PollCycle.Stop) -> Probe? {
        let gate = cycle.gate
        let known = gate.known.dialect
        decoder.dialect = known ?? cycle.api.assumedDialect
        decoder.detects = true
        defer { decoder.detects = false }
        let answer: PageAnswer
        var probe = Probe()
        do throws(PollCycle.Stop) {
            // Both dialects read this cursor as "from the beginning".
            answer = try await request(PageQuery(after: nil), for: chunk, startCursor: Dialect.canonical.startCursor)
            probe.firstPage = answer
        } catch {
            guard error.isUnreadable, decoder.quarantine else { throw error }
            // Both dialects read this cursor as one above all identifiers, so that the page has no items.
            answer = try await request(PageQuery(after: nil), for: chunk, startCursor: "9999999999_zzzzzz_ffffffff")
        }
        do throws(StoreError) {
            switch answer.isEmpty ? .undecided : answer.detection ?? .noPage {
            case .dialect(let shown):
                decoder.dialect = shown
                probe.isAfresh = try await gate.known.learn(shown, now: cycle.clock.now)
                if known != shown { cycle.log(.serverDialect, [.dialect: "\(shown.rawValue)"], of: lastRequest) }
                return probe
            // Either dialect fits this cycle. If none is known, the next cycle probes again.
            case .undecided where known != nil:
                _ = try await gate.known.learn(dialect, now: cycle.clock.now)
                return probe
            case .undecided where answer.isEmpty: return nil
            case .undecided where !cycle.poll.kind.isOfPlans: return probe
            case .undecided, .noPage: break
            }
        } catch { throw .request(.unstored(error)) }
        // No known server sends this response. A poll that started from it would treat every existing change as new.
        throw .page(answer.detection == .undecided ? .withoutLimit : .notAPage)
    }

    /// Returns the page of an answer. If another dialect could have produced the answer, the next cycle probes the
    /// dialect.
    func page(of answer: PageAnswer) async throws(PollCycle.Stop) -> Page {
        if answer.isEmpty { return .none }
        let page: Page
        do throws(PageRejection) { page = try answer.page.get() } catch {
            if case .dialect(let other) = answer.detection, other != dialect {
                cycle.gate.known.doubtDialect(now: cycle.time.now)
            }
            throw .page(error)
        }
        // The endorser server reads a canonical cursor as a time far in the future and returns an empty page.
        if page.fetched == 0, dialect == .canonical, cycle.poll.kind.isOfPlans, !page.hasPagination {
            cycle.gate.known.doubtDialect(now: cycle.time.now)
        }
        if page.reordered {
            cycle.metrics.polls.violations[cycle.poll.label, .order].increment()
            cycle.log(.pollPageOutOfOrder, of: lastRequest)
        }
        return page
    }

    /// Asks for smaller ranges of an unreadable page until it is known which item breaks it.
    ///
    /// - Parameter failure: The failure of the whole page, thrown if no item explains it.
    mutating func search(
        _ query: PageQuery,
        for chunk: PlanChunk?,
        failure: PollCycle.Stop
    ) async throws(PollCycle.Stop) -> (PageAnswer, Page) {
        var search = UnreadableItemSearch(
            query,
            dialect: dialect,
            latest: latestID(query),
            known: cycle.memory.unreadable(in: stream)
        )
        // Every readable range includes the one before, but for the last, which shows that the cause is gone.
        var readable: (answer: PageAnswer, page: Page)?
        while let next = search.next {
            do throws(PollCycle.Stop) {
                readable = try await whole(next, for: chunk)
                search.receive(isReadable: true)
            } catch {
                guard error.isUnreadable else {
                    // The next cycle continues here, for example after a long wait for the server's rate limit.
                    if let place = search.place { cycle.memory.found(place, in: stream) }
                    throw error
                }
                search.receive(isReadable: false)
            }
        }
        switch search.end {
        case .item(let item):
            cycle.memory.found(item.span, in: stream)
            guard let readable else { throw failure }
            return (readable.answer, search.page(readable.page, with: item))
        case .nothing: return try await whole(query, for: chunk)
        case .everything, nil: throw failure
        }
    }

    /// A time after every identifier of the server. The agent's own clock can be hours behind.
    private func latestID(_ query: PageQuery) -> Timestamp {
        let now = cycle.clock.now
        let server = cycle.memory.serverTime(at: cycle.time.boottime)
        return max(now, server ?? now, query.after?.timestamp ?? now) + PageAnswer.longestDoubt
    }

    private mutating func whole(
        _ query: PageQuery,
        for chunk: PlanChunk?
    ) async throws(PollCycle.Stop) -> (answer: PageAnswer, page: Page) {
        let answer = try await all(query, for: chunk)
        return (answer, try await page(of: answer))
    }
}

extension PageSource {
    /// Leaves out what links to no claim of the account. These are asked for after the first page of the walk that has anything, so
    /// that an unchanged poll does not ask, and a claim that is linked to is not too new to be known.
    mutating func linked(_ page: Page, with plans: inout NamedPlans) async throws(PollCycle.Stop) -> Page {
        if page.changes.isEmpty { return page }
        let own: OwnClaims
        if let known = plans.own { own = known } else { own = try await ownClaims() }
        plans.own = own
        return page.linked(to: own)
    }

    /// Requests the claims that the account made: its plans, as many as the configuration allows, or those that claims of the
    /// poll can link to.
    ///
    /// The server has a report of offers to the account's plans, and none of gifts.
    mutating func ownClaims() async throws(PollCycle.Stop) -> OwnClaims {
        let kind = cycle.poll.kind
        var own = OwnClaims(limit: kind.namesPlans ? cycle.service.options.limits.maxOwnPlans : .max)
        guard let report = kind.ownReport else { return own }
        for role in report.roles where !own.areCut {
            var (before, number): (String?, Int) = (nil, 0)
            repeat {
                number += 1
                let query = [(role, stream.account.rawValue)] + (before.map { [("beforeId", $0)] } ?? [])
                before = own.add(try await ownPage(of: report.endpoint, query), number: number)
            } while before != nil
        }
        return own
    }

    private mutating func ownPage(
        of endpoint: Endpoint,
        _ query: [(String, String)]
    ) async throws(PollCycle.Stop) -> OwnClaimsPage {
        var request = cycle.request(endpoint, of: stream.account)
        request.query = query
        let (answer, end) = try await answer(to: request) { Self.read($0, askedAt: $1) }
        if let date = answer.date {
            let (now, tolerance) = (cycle.time.boottime, dialect.lateVisibility / 2)
            cycle.memory.move { $0.observe(date, asked: end.sentAt, at: now, tolerance: tolerance) }
        }
        switch answer.page {
        case .success(let page): return page
        case .failure(let rejection): throw .page(rejection)
        }
    }

    /// Reads an answer to a request for own claims, and the server's `Date`; `nil` if it has none, or a cache answered.
    private static func read(
        _ response: HTTPResponse,
        askedAt: Timestamp
    ) -> Result<(page: Result<OwnClaimsPage, PageRejection>, date: Timestamp?), APIFailure> {
        let date = PageAnswer.isCached(response) ? nil : PageAnswer.date(of: response, askedAt: askedAt)
        if response.status == 204 { return .success((.success(.empty), date)) }
        guard let page = OwnClaimsPage.read(response.body) else { return .failure(response.notJSON) }
        return .success((page, date))
    }
}

extension PageRejection {
    /// The rejection of an empty page of plans that says nothing about its dialect.
    fileprivate static let withoutLimit = PageRejection(
        violation: .schema,
        issues: [ValidationIssue(path: "$.hitLimit", problem: .missing)]
    )
}
