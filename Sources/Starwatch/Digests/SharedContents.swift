import StarwatchCore
import StarwatchPolling
import StarwatchStore
import Synchronization

/// The content that one request brings for many accounts: the configuration has the request, so each would get the same.
final class SharedContents: Sendable {
    /// The end of a request, and its time.
    private struct Known: Sendable {
        let end: DigestFetcher.End
        let at: Timestamp

        var content: StoredContent? {
            guard case .fetched(let payload, let etag) = end.result else { return nil }
            return StoredContent(payload: payload, validatedAt: at, etag: etag)
        }

        /// Whether it serves other accounts.
        func isValid(at now: Timestamp) -> Bool {
            at <= now && now - at < (end.result == .failed ? SharedTerms.failureLife : .seconds(60))
        }
    }

    private let known = Mutex<[String: Known]>([:])
    private let flights = SingleFlight<String, Known>()

    /// The end of an account's fetch, and its time. A failure is that of all accounts that wait for the request, and of those
    /// that come soon after it.
    ///
    /// - Parameters:
    ///   - isByHand: Whether only a request of its own serves it.
    ///   - stored: The content of the account.
    ///   - ask: Sends the request, with the `ETag` of the last content.
    func end(
        of digest: Digest,
        isByHand: Bool,
        stored: StoredContent?,
        on time: any TimeSource,
        ask: @escaping @Sendable (_ known: StoredContent?) async -> DigestFetcher.End
    ) async -> (end: DigestFetcher.End, at: Timestamp) {
        // Digests of one source can differ in what they take for content.
        let key = "\(digest.source) \(digest.options.onEmpty.rawValue)"
        @Sendable func request() async -> Known {
            let (former, began) = (self.known.withLock { $0[key]?.content }, time.now)
            var end = await ask(former)
            if end.result == .notModified, let former {
                end = (.fetched, .fetched(payload: former.payload, etag: former.etag))
            }
            // Content is as old as its request; a failure begins when it is known.
            let new = Known(end: end, at: end.result == .failed ? time.now : began)
            // A cancelled request says nothing.
            if end.outcome != .cancelled { self.known.withLock { $0[key] = new } }
            return new
        }
        let found =
            isByHand
            ? await request()
            : await flights.run(key) {
                if let known = self.known.withLock({ $0[key] }), known.isValid(at: time.now) { return known }
                return await request()
            }
        guard let found else { return ((.cancelled, .failed), time.now) }
        // The account has this content already.
        if let etag = found.content?.etag, etag == stored?.etag { return ((.notModified, .notModified), found.at) }
        return (found.end, found.at)
    }
}
