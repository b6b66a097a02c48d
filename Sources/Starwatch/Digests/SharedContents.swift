import StarwatchCore
import StarwatchPolling
import StarwatchStore
import Synchronization

/// The content that one request brings for many accounts: the configuration has the request, so each would get the same.
final class SharedContents: Sendable {
    /// The time for which an answer serves other accounts.
    private static let life = Duration.seconds(60)

    /// The last content of each source, with the time at which it was asked for.
    private let known = Mutex<[String: StoredContent]>([:])
    private let flights = SingleFlight<String, DigestFetcher.End>()

    /// The end of an account's fetch. A failure is that of all accounts that wait for the request.
    ///
    /// - Parameters:
    ///   - isByHand: Whether earlier answers do not serve it.
    ///   - stored: The content of the account.
    ///   - ask: Sends the request, with the `ETag` of the last content.
    func end(
        of digest: Digest,
        isByHand: Bool,
        stored: StoredContent?,
        on time: any TimeSource,
        ask: @escaping @Sendable (_ known: StoredContent?) async -> DigestFetcher.End
    ) async -> DigestFetcher.End {
        // Digests of one source can differ in what they take for content.
        let key = "\(digest.source) \(digest.options.onEmpty.rawValue)"
        let end = await flights.run(key) { () -> DigestFetcher.End in
            let (former, now) = (self.known.withLock { $0[key] }, time.now)
            if !isByHand, let former, former.validatedAt <= now, now - former.validatedAt < Self.life {
                return (.fetched, .fetched(payload: former.payload, etag: former.etag))
            }
            let end = await ask(former)
            let (payload, etag): (String, String?)
            switch (end.result, former) {
            case (.fetched(let text, let name), _): (payload, etag) = (text, name)
            case (.notModified, let former?): (payload, etag) = (former.payload, former.etag)
            case (.notModified, nil), (.failed, _): return end
            }
            self.known.withLock { $0[key] = StoredContent(payload: payload, validatedAt: now, etag: etag) }
            return (.fetched, .fetched(payload: payload, etag: etag))
        }
        guard let end else { return (.cancelled, .failed) }
        // The account has this content already.
        if case .fetched(_, let etag?) = end.result, etag == stored?.etag { return (.notModified, .notModified) }
        return end
    }
}
