import StarwatchCore
import StarwatchPolling
import StarwatchTransport

/// The answer to one request for a page, parsed once.
struct PageAnswer: Sendable {
    /// The page, or the reason why it was rejected.
    var page: Result<Page, PageRejection>
    /// The dialect that the answer shows; `nil` if it was not looked for.
    let detection: PageDecoder.Detection?
    /// Whether the server answered without content.
    let isEmpty: Bool
    /// The server's time of the request, as far as it is known.
    let askedAt: Timestamp
    /// The server's `Date`; `nil` if it has none.
    let date: Timestamp?
    /// Whether the answer comes from a cache, so that its `Date` is not the server's present time.
    let isCached: Bool
    /// The time from before the request to after its answer, with all waits.
    var took = Duration.zero
    /// The time since the machine's start at which the last attempt was sent, after all waits.
    var askedBoottime = Duration.zero
    /// The origin that the stored changes of the page keep; `nil` if nothing was sent.
    var origin: PageOrigin?

    /// Reads a response. One whose bytes are not JSON is a failed request; a page that breaks the contract is not.
    static func read(
        _ response: HTTPResponse,
        askedAt: Timestamp,
        by decoder: PageDecoder
    ) -> Result<PageAnswer, APIFailure> {
        let date = date(of: response, askedAt: askedAt)
        let isEmpty = response.status == 204
        var reading: PageDecoder.Reading?
        if !isEmpty {
            var decoder = decoder
            // If the local clock is behind, the response's `Date` counts. The decoder begins with the time of the cursor and
            // of the server's last `Date`: a server's clock can have carried the cursor further, and this `Date` can be a
            // cache's.
            let latest = max(askedAt, date ?? askedAt) + longestDoubt
            decoder.latest = max(latest, decoder.latest ?? latest)
            reading = decoder.read(response.body)
            if reading == nil, (200..<300).contains(response.status) {
                return .failure(response.notJSON)
            }
        }
        return .success(
            PageAnswer(
                page: reading?.page ?? (isEmpty ? .success(.none) : .failure(.notAPage)),
                detection: reading?.detection,
                isEmpty: isEmpty,
                askedAt: askedAt,
                date: date,
                isCached: isCached(response)
            )
        )
    }

    /// The server's `Date`; `nil` if the response has none.
    static func date(of response: HTTPResponse, askedAt: Timestamp) -> Timestamp? {
        response.headers["Date"].flatMap { HTTPDate.parse($0, now: askedAt) }
    }

    /// Whether a response comes from a cache.
    static func isCached(_ response: HTTPResponse) -> Bool { response.headers.contains("Age") }

    /// The page about no plans, for which no request is sent.
    ///
    /// - Parameter boottime: The time since the machine's start, now.
    static func ofNoPlans(askedAt: Timestamp, at boottime: Duration) -> PageAnswer {
        PageAnswer(
            page: .success(.none),
            detection: nil,
            isEmpty: true,
            askedAt: askedAt,
            date: nil,
            isCached: false,
            askedBoottime: boottime
        )
    }

    /// Notes the end of the request.
    ///
    /// - Parameters:
    ///   - begin: The time before the request on both clocks. The monotonic one can stop while the machine sleeps.
    ///   - page: The number of the page in its run.
    mutating func finish(
        _ end: RequestEnd,
        since begin: (wall: Timestamp, monotonic: Duration),
        on time: any TimeSource,
        page: Int
    ) {
        askedBoottime = end.sentAt
        took = max(time.monotonic - begin.monotonic, time.now - begin.wall)
        origin = end.trace.map {
            PageOrigin(page: page, request: $0, askedAt: askedAt, answeredAt: askedAt + end.duration, tries: end.tries)
        }
    }

    /// The part of an answer that an account takes as if it had asked alone.
    static func read(_ part: SharedPart, by decoder: PageDecoder) -> Result<PageAnswer, APIFailure> {
        let first = part.answer.first
        let response = HTTPResponse(status: first.response.status, headers: first.response.headers, body: part.body)
        return read(response, askedAt: first.page.askedAt, by: decoder).map { answer in
            var answer = answer
            (answer.took, answer.askedBoottime) = (first.page.took, first.page.askedBoottime)
            answer.origin = part.origin
            return answer
        }
    }

    /// Maximum error accepted for the local clock or for the server's `Date`.
    static let longestDoubt = Duration.seconds(3600)

    /// Maximum time that a `Date` is assumed to be ahead of the true time.
    static let dateError = Duration.seconds(10)

    /// The earliest time at which the server can have created the response. The local clock can be ahead of the
    /// server's, or a cache can have responded. If the local clock is far behind, only `Date` counts; otherwise a walk
    /// might never get past its first page.
    ///
    /// - Parameter newest: The newest identifier of the page. A `Date` that is not behind it is by the clock that makes
    ///   identifiers, so it counts however far the local clock is ahead.
    func madeAt(newest: JWTID?) -> Timestamp {
        guard let date else { return askedAt }
        let fits = newest.map { $0.timestamp <= date + Self.dateError } ?? true
        return max(min(askedAt, fits ? date : max(date, askedAt - Self.longestDoubt)), date - Self.dateError)
    }

    /// The earliest time, by the server's own clock, at which it can have read what the answer shows; `nil` if the
    /// answer has no `Date`.
    ///
    /// The server stamps its answer when it sends it, which can be 20 s after it has read the rows: a locked database
    /// holds it up. It cannot have read them before it was asked.
    var readSince: Timestamp? { date.map { $0 - took } }
}
