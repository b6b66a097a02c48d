import StarwatchCore
import StarwatchPolling
import StarwatchTransport

/// The answer to one request for a page, parsed once.
///
/// A class, because the frame of each call between a request and its walk would need room for its 250 bytes.
final class PageAnswer: Sendable {
    /// The request, as far as one was sent.
    struct Sending {
        /// The time from before the request to after its answer, with all waits.
        var took = Duration.zero
        /// The time since the machine's start at which the last attempt was sent, after all waits.
        var askedBoottime = Duration.zero
        /// The origin that the stored changes of the page keep; `nil` if nothing was sent.
        var origin: PageOrigin?
    }

    /// The page, or the reason why it was rejected.
    let page: Result<Page, PageRejection>
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
    let sending: Sending

    private init(
        page: Result<Page, PageRejection>,
        detection: PageDecoder.Detection? = nil,
        isEmpty: Bool,
        askedAt: Timestamp,
        date: Timestamp? = nil,
        isCached: Bool = false,
        sending: Sending = Sending()
    ) {
        (self.page, self.detection, self.isEmpty, self.askedAt) = (page, detection, isEmpty, askedAt)
        (self.date, self.isCached, self.sending) = (date, isCached, sending)
    }

    /// The answer with another page, or of another request.
    func with(page: Result<Page, PageRejection>? = nil, sending: Sending? = nil) -> PageAnswer {
        PageAnswer(
            page: page ?? self.page,
            detection: detection,
            isEmpty: isEmpty,
            askedAt: askedAt,
            date: date,
            isCached: isCached,
            sending: sending ?? self.sending
        )
    }

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
        PageAnswer(page: .success(.none), isEmpty: true, askedAt: askedAt, sending: Sending(askedBoottime: boottime))
    }

    /// The answer with the end of its request.
    ///
    /// - Parameters:
    ///   - begin: The time before the request on both clocks. The monotonic one can stop while the machine sleeps.
    ///   - page: The number of the page in its run.
    func ended(
        _ end: RequestEnd,
        since begin: (wall: Timestamp, monotonic: Duration),
        on time: any TimeSource,
        page: Int
    ) -> PageAnswer {
        let origin = end.trace.map {
            PageOrigin(page: page, request: $0, askedAt: askedAt, answeredAt: askedAt + end.duration, tries: end.tries)
        }
        let took = max(time.monotonic - begin.monotonic, time.now - begin.wall)
        return with(sending: Sending(took: took, askedBoottime: end.sentAt, origin: origin))
    }

    /// The part of an answer that an account takes as if it had asked alone.
    static func read(_ part: SharedPart, by decoder: PageDecoder) -> Result<PageAnswer, APIFailure> {
        let first = part.answer.first
        let response = HTTPResponse(status: first.response.status, headers: first.response.headers, body: part.body)
        var sending = first.page.sending
        sending.origin = part.origin
        return read(response, askedAt: first.page.askedAt, by: decoder).map { $0.with(sending: sending) }
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
    var readSince: Timestamp? { date.map { $0 - sending.took } }
}
