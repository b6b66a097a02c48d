import Logging
import StarwatchCore
import StarwatchTelemetry
import StarwatchTransport

extension PollCycle {
    /// Result of the first page from a server with an unknown dialect.
    struct Probe {
        var dialect: Dialect
        /// `true` if the server has changed its dialect and its streams start again.
        var isAfresh = false
        var chunk: PlanChunk?
        /// The first page; `nil` if the server was asked for a page without items.
        var fetched: Fetched?
    }

    /// Requests the first page from a server with an unknown or doubtful dialect, in a form that both dialects
    /// understand.
    ///
    /// - Returns: `nil` if the server answers without content and no dialect is known. The cycle has found nothing then,
    ///   and the next one probes again: a poll that started from it would treat every existing change as new.
    ///
    /// - Parameter setsInvalidAside: Whether to ask for a page without items if the first page cannot be read.
    func probe(
        _ stream: StreamKey,
        snapshot: IdentityContext.Snapshot,
        setsInvalidAside: Bool
    ) async throws(Stop) -> Probe? {
        // Both dialects read the canonical start cursor as "from the beginning". Both accept a body within the smaller
        // size limit.
        let chunk =
            poll.kind == .starredProjects
            ? Dialect.allCases.compactMap { identity.chunks(of: snapshot, dialect: $0).first }
                .min { $0.count < $1.count } : nil
        let assumed = await gate.dialect ?? api.assumedDialect
        let ask = { (startCursor: String) async throws(Stop) -> Fetched in
            try await self.request(
                PageQuery(after: nil),
                chunk: chunk,
                account: stream.account,
                dialect: assumed,
                startCursor: startCursor
            )
        }
        var fetched: Fetched
        var isFirstPage = true
        do throws(Stop) {
            fetched = try await ask(Dialect.canonical.startCursor)
        } catch {
            guard error.isUnreadable, setsInvalidAside else { throw error }
            // Both dialects read this cursor as one above all identifiers.
            fetched = try await ask("9999999999_zzzzzz_ffffffff")
            isFirstPage = false
        }
        let isEmpty = fetched.response.status == 204
        switch isEmpty ? .undecided : await detect(fetched.response.body) {
        case .dialect(let dialect):
            var probe = Probe(dialect: dialect, chunk: chunk, fetched: isFirstPage ? fetched : nil)
            let former = await gate.dialect
            do { probe.isAfresh = try await gate.learn(dialect, now: clock.now) } catch { throw .store(error) }
            if former != dialect { note(.serverDialect, [.dialect: "\(dialect.rawValue)"]) }
            return probe
        case .undecided:
            // The response is empty, so either dialect fits this cycle. If none is known, the next cycle probes again.
            if let known = await gate.dialect {
                do { _ = try await gate.learn(known, now: clock.now) } catch { throw .store(error) }
            } else if isEmpty {
                return nil
            } else if poll.kind == .starredProjects {
                // No known server sends this response. A poll that started from it would treat every existing change as
                // new.
                throw .page(PageRejection(violation: .schema, issues: [.init(path: "$.hitLimit", problem: .missing)]))
            }
            return Probe(dialect: assumed, chunk: chunk, fetched: isFirstPage ? fetched : nil)
        case .noPage:
            throw .page(PageRejection(violation: .schema, issues: [ValidationIssue(path: "$", problem: .invalid)]))
        }
    }

    /// Validates and decodes a response. If another dialect could have produced it, the next cycle probes the dialect.
    func decode(_ answer: Fetched, _ position: Position) async throws(Stop) -> Page {
        let (response, dialect) = (answer.response, position.dialect)
        if response.status == 204 { return .none }
        let page: Page
        do {
            let latest = latestID(of: answer, position)
            if response.body.count < Offload.longAnswer {
                page = try read(response.body, position, latest: latest)
            } else {
                page = try await Offload.run { () throws(PageRejection) in
                    try read(response.body, position, latest: latest)
                }
            }
        } catch {
            if error.violation == .schema || error.violation == .idKind { await doubt(dialect, for: response) }
            throw .page(error)
        }
        // The endorser server reads a canonical cursor as a time far in the future and returns an empty page.
        if page.fetched == 0, dialect == .canonical, poll.kind == .starredProjects, !page.hasPagination {
            await gate.doubtDialect(now: time.now)
        }
        if page.reordered {
            metrics.polls.violations[poll.label, .order].increment()
            note(.pollPageOutOfOrder)
        }
        return page
    }

    private func read(_ body: [UInt8], _ position: Position, latest: Timestamp) throws(PageRejection) -> Page {
        try PageDecoder.decode(
            body,
            dialect: position.dialect,
            kind: poll.kind,
            validation: poll.options.validation,
            quarantine: position.setsInvalidAside,
            latest: latest,
            context: position.context
        )
    }

    /// Latest time that an identifier can have: one hour after the server's time, or that of the cursor if a server's
    /// clock has carried it further. If the local clock is behind, the response's `Date` counts.
    private func latestID(of answer: Fetched, _ position: Position) -> Timestamp {
        let askedAt = answer.askedAt
        let latest = max(askedAt, answer.date ?? askedAt) + Self.longestDoubt
        return max(latest, position.cursor?.timestamp ?? latest)
    }

    /// Maximum error accepted for the local clock or for the server's `Date`.
    static let longestDoubt = Duration.seconds(3600)

    /// Maximum time that a `Date` is assumed to be ahead of the true time.
    static let dateError = Duration.seconds(10)

    /// Returns the earliest time at which the server can have created the response. The local clock can be ahead of the
    /// server's, or a cache can have responded. If the local clock is far behind, only `Date` counts; otherwise a walk
    /// might never get past its first page.
    static func earliestMaking(_ date: Timestamp?, askedAt: Timestamp) -> Timestamp {
        guard let date else { return askedAt }
        return max(min(askedAt, max(date, askedAt - longestDoubt)), date - dateError)
    }

    /// Returns the earliest time, by the server's own clock, at which it can have read what the answer shows; `nil` if
    /// the answer has no `Date`.
    ///
    /// The server stamps its answer when it sends it, which can be 20 s after it has read the rows: a locked database
    /// holds it up. It cannot have read them before it was asked.
    static func earliestReading(_ answer: Fetched) -> Timestamp? {
        answer.date.map { $0 - answer.took }
    }

    /// Returns the `Date` of a response; `nil` if it has none.
    static func date(of response: HTTPResponse, askedAt: Timestamp) -> Timestamp? {
        response.headers["Date"].flatMap { HTTPDate.parse($0, now: askedAt) }
    }

    private func doubt(_ dialect: Dialect, for response: HTTPResponse) async {
        if case .dialect(let other) = await detect(response.body), other != dialect {
            await gate.doubtDialect(now: time.now)
        }
    }

    private func detect(_ body: [UInt8]) async -> PageDecoder.Detection {
        guard body.count >= Offload.longAnswer else { return PageDecoder.detect(body, of: poll.kind) }
        return await Offload.run { [kind = poll.kind] in PageDecoder.detect(body, of: kind) }
    }
}
