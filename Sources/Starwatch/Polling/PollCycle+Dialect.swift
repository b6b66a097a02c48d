import Logging
import StarwatchCore
import StarwatchTelemetry
import StarwatchTransport

extension PollCycle {
    /// What the first page of a server whose dialect is not known said.
    struct Probe {
        var dialect: Dialect
        /// Whether the server has changed its dialect, so that its streams start afresh.
        var isAfresh = false
        var chunk: PlanChunk?
        var response: HTTPResponse
        var askedAt: Timestamp
    }

    /// Asks the first page of a server whose dialect is not known, or in doubt, in the form that both understand.
    func probe(_ stream: StreamKey, snapshot: IdentityContext.Snapshot) async throws(Stop) -> Probe {
        // A canonical cursor is a valid "from the beginning" for both; so is a body within the smaller bound.
        let chunk =
            poll.kind == .starredProjects
            ? Dialect.allCases.compactMap { identity.chunks(of: snapshot, dialect: $0).first }
                .min { $0.count < $1.count } : nil
        let assumed = await gate.dialect ?? api.assumedDialect
        let (response, askedAt) = try await request(
            PageQuery(after: nil),
            chunk: chunk,
            account: stream.account,
            dialect: assumed,
            startCursor: Dialect.canonical.startCursor
        )
        switch PageDecoder.detect(response.body, of: poll.kind) {
        case .dialect(let dialect):
            var probe = Probe(dialect: dialect, chunk: chunk, response: response, askedAt: askedAt)
            let former = await gate.dialect
            do { probe.isAfresh = try await gate.learn(dialect, now: clock.now) } catch { throw .store(error) }
            if former != dialect { note(.serverDialect, [.dialect: "\(dialect.rawValue)"]) }
            return probe
        case .undecided:
            // Nothing to read in it, so this cycle can end either way; the next one asks again, if nothing is known.
            if let known = await gate.dialect {
                do { _ = try await gate.learn(known, now: clock.now) } catch { throw .store(error) }
            } else if poll.kind == .starredProjects {
                // No server's: a poll that began with it would take all that there is for new.
                throw .page(PageRejection(violation: .schema, issues: [.init(path: "$.hitLimit", problem: .missing)]))
            }
            return Probe(dialect: assumed, chunk: chunk, response: response, askedAt: askedAt)
        case .noPage:
            throw .page(PageRejection(violation: .schema, issues: [ValidationIssue(path: "$", problem: .invalid)]))
        }
    }

    /// Checks and decodes an answer. One that another dialect could have given makes the next cycle ask which it is.
    func decode(_ response: HTTPResponse, dialect: Dialect, askedAt: Timestamp) async throws(Stop) -> Page {
        let page: Page
        do {
            let latest = latestID(of: response, askedAt: askedAt)
            page = try pages.page(of: response.body, dialect: dialect, latest: latest) { () throws(PageRejection) in
                try PageDecoder.decode(
                    response.body,
                    dialect: dialect,
                    kind: poll.kind,
                    validation: poll.options.validation,
                    quarantine: poll.options.quarantineInvalid,
                    latest: latest
                )
            }
        } catch {
            if error.violation == .schema || error.violation == .idKind { await doubt(dialect, for: response) }
            throw .page(error)
        }
        // To the endorser server a canonical cursor is a time far ahead, after which there is nothing.
        if page.fetched == 0, dialect == .canonical, poll.kind == .starredProjects, !page.hasPagination {
            await gate.doubtDialect(now: time.now)
        }
        if page.reordered {
            metrics.polls.violations[poll.label, .order].increment()
            note(.pollPageOutOfOrder)
        }
        return page
    }

    /// The latest time that an identifier may have: an hour after the server's, which the answer says itself where our
    /// clock is behind it.
    private func latestID(of response: HTTPResponse, askedAt: Timestamp) -> Timestamp {
        max(askedAt, Self.date(of: response, askedAt: askedAt) ?? askedAt) + Self.longestDoubt
    }

    /// By how much a clock, ours or the server's `Date`, is given in to against the other.
    private static let longestDoubt = Duration.seconds(3600)

    /// How much later than the truth a `Date` is taken to be at most.
    private static let dateError = Duration.seconds(10)

    /// When an answer was made at the earliest: our clock may be ahead of the server's, or a cache may have answered.
    /// Where our clock is far behind it, the date alone counts, or a walk might never get beyond its first page.
    static func earliestMaking(of response: HTTPResponse, askedAt: Timestamp) -> Timestamp {
        guard let date = date(of: response, askedAt: askedAt) else { return askedAt }
        return max(min(askedAt, max(date, askedAt - longestDoubt)), date - dateError)
    }

    /// When an answer says that it was made; `nil` when it does not say.
    private static func date(of response: HTTPResponse, askedAt: Timestamp) -> Timestamp? {
        response.headers["Date"].flatMap { HTTPDate.parse($0, now: askedAt) }
    }

    private func doubt(_ dialect: Dialect, for response: HTTPResponse) async {
        if case .dialect(let other) = PageDecoder.detect(response.body, of: poll.kind), other != dialect {
            await gate.doubtDialect(now: time.now)
        }
    }
}
