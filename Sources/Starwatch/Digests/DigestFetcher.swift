import FoundationEssentials
import StarwatchCore
package import StarwatchStore
import StarwatchTransport
import Synchronization

/// Makes the single request of an occurrence. It never retries.
package struct DigestFetcher: Sendable {
    /// Timeout of the whole request, unless its options set a shorter one.
    package static let timeout = FetchOptions.longestFetch
    /// Maximum size of a response, far more than a notification can show.
    static let largestBytes = 262_144

    package typealias End = (outcome: DigestPrefetchOutcome, result: PrefetchResult)

    let http: any HTTPTransport
    /// Sends the requests; the servers' waits and limits apply to digests too.
    let requester: Requester
    /// Content for digests of polls; `nil` if there are none.
    var polls: PollContent?
    /// The answers that many accounts share; `nil` if there is one account.
    var contents: SharedContents?

    private var time: any TimeSource { requester.time }

    /// - Parameter stored: The stored content, whose ETag is sent.
    /// - Returns: The end, and its time, which is earlier for content that was fetched for other accounts.
    package func fetch(
        _ digest: Digest,
        for fetch: DigestService.Pass.Fetch,
        stored: StoredContent?
    ) async -> (end: End, at: Timestamp) {
        let end: End
        switch (digest.options.content, digest.fetcher) {
        case (.request(let request), _):
            // An occurrence's fetch must end by the digest's time. A content-only fetch ends after the longest request.
            let deadline = fetch.occurrence?.fireAt ?? time.now + Self.timeout
            if let contents {
                return await share(request, of: digest, for: fetch, before: deadline, stored: stored, in: contents)
            }
            end = await send(request, of: digest, for: fetch.account, before: deadline, stored: stored)
        case (.fetcher, let fetcher?): end = await ask(fetcher, of: digest, for: fetch, stored: stored)
        case (.poll(let poll), _): end = await find(poll, of: digest, for: fetch, stored: stored)
        // Made without the host's fetchers, for reading the database only.
        case (.fetcher, nil): end = (.unreachable, .failed)
        }
        return (end, time.now)
    }

    /// Waits for the request for many accounts until the deadline of this one. The request has a limit of its own, also for
    /// the server's waits: visits wait for it, and others need their places.
    private func share(
        _ request: FetchOptions,
        of digest: Digest,
        for fetch: DigestService.Pass.Fetch,
        before deadline: Timestamp,
        stored: StoredContent?,
        in contents: SharedContents
    ) async -> (end: End, at: Timestamp) {
        let late: (end: End, at: Timestamp) = ((.timeout, .failed), deadline)
        let end = await time.run(within: deadline - time.now, late: late) { () -> (end: End, at: Timestamp) in
            await contents.end(of: digest, isByHand: fetch.isByHand, stored: stored, on: time) { known in
                await send(request, of: digest, for: nil, before: time.now + Self.timeout, stored: known)
            }
        }
        return end ?? ((.cancelled, .failed), time.now)
    }

    /// For a poll, the last listed row takes the place of an ETag. The next occurrence starts after it, so each change
    /// is in exactly one occurrence, even if a fetch failed. A manual fetch does not move the row.
    private func find(
        _ poll: PollName,
        of digest: Digest,
        for fetch: DigestService.Pass.Fetch,
        stored: StoredContent?
    ) async -> End {
        let since = digest.beginning(of: fetch.occurrence?.fireAt ?? time.now)
        let row = stored?.etag.flatMap { Int64($0) }
        let late: End = (.timeout, .failed)
        let end = await time.run(within: Self.timeout, late: late) { () -> End in
            guard let polls else { return (.unreachable, .failed) }
            let (outcome, changes, last) = await polls.find(poll, of: fetch.account, after: row, since: since)
            guard let changes else { return (outcome, .failed) }
            let payload = changes.isEmpty && digest.options.onEmpty == .skip ? "{}" : changes.json
            return (outcome, .fetched(payload: payload, etag: fetch.occurrence == nil ? stored?.etag : last))
        }
        return end ?? (.cancelled, .failed)
    }

    private func ask(
        _ fetcher: any ContentFetcher,
        of digest: Digest,
        for fetch: DigestService.Pass.Fetch,
        stored: StoredContent?
    ) async -> End {
        let request = ContentRequest(
            digest: digest.name,
            fireAt: fetch.occurrence?.fireAt,
            account: fetch.account,
            etag: stored?.etag
        )
        let late: End = (.timeout, .failed)
        let end = await time.run(within: Self.timeout, late: late) { () -> End in
            do {
                switch try await fetcher.content(for: request) {
                case .content(let text, let etag):
                    return Self.received(Array(text.utf8), etag: Self.usable(etag), of: digest)
                case .notModified: return stored == nil ? (.refused, .failed) : (.notModified, .notModified)
                }
            } catch {
                return (.unreachable, .failed)
            }
        }
        return end ?? (.cancelled, .failed)
    }

    private func send(
        _ fetch: FetchOptions,
        of digest: Digest,
        for account: DID?,
        before deadline: Timestamp,
        stored: StoredContent?
    ) async -> End {
        guard Offload.isChosen else {
            return await Offload.run {
                await send(fetch, of: digest, for: account, before: deadline, stored: stored)
            }
        }
        guard let origin = ServerURL.origin(of: fetch.url) else { return (.unreachable, .failed) }
        let gate = requester.gates.gate(to: origin)
        let sender = await gate.enter(account)
        var open = OpenRequest(of: sender, through: gate, by: requester) { _ in
            try digest.token.map { try AccessToken(file: $0) }
        }
        (open.retries, open.deadline) = (.never, deadline)
        while await open.next() {
            let limit = min(fetch.timeout ?? Self.timeout, Self.timeout, deadline - open.admittedAt)
            let exchange = await http.exchange(Self.message(fetch, open.token, etag: stored?.etag, timeout: limit))
            _ = open.receive(exchange)
            if case .failure(let failure) = exchange.answer {
                await open.end(with: failure)
            } else {
                await open.end(with: nil)
            }
        }
        await gate.leave(sender, now: time.now)
        switch (open.end.failure, open.exchange?.response) {
        case (nil, let response?) where response.status == 200 || isEmptyAnswer(response, of: digest):
            return Self.received(response.body, etag: Self.usable(response.headers["etag"]), of: digest)
        case (nil, let response?) where response.status == 304 && stored != nil: return (.notModified, .notModified)
        case (.failed(let failure), _): return (DigestPrefetchOutcome(failure), .failed)
        case (.noToken, _): return (.noToken, .failed)
        case (nil, _), (.deferred, _), (.unstored, _): return (Task.isCancelled ? .cancelled : .refused, .failed)
        }
    }

    /// Returns whether a 204 counts as empty content.
    private func isEmptyAnswer(_ response: HTTPResponse, of digest: Digest) -> Bool {
        response.status == 204 && digest.options.onEmpty == .skip
    }

    private static func message(
        _ fetch: FetchOptions,
        _ token: AccessToken?,
        etag: String?,
        timeout: Duration
    ) -> HTTPRequest {
        var headers = fetch.requestHeaders(token: token)
        headers.append(("Accept", "application/json"))
        if let etag { headers.append(("If-None-Match", etag)) }
        return HTTPRequest(
            method: fetch.method == .get ? .get : .post,
            url: fetch.url,
            headers: headers,
            body: fetch.method == .post ? Array((fetch.body ?? "").utf8) : nil,
            timeout: timeout,
            maxResponseBytes: largestBytes
        )
    }

    private static func received(_ body: [UInt8], etag: String?, of digest: Digest) -> End {
        guard body.count <= largestBytes else { return (.malformed, .failed) }
        if DigestContent(json: body) != nil {
            return (.fetched, .fetched(payload: String(decoding: body, as: UTF8.self), etag: etag))
        }
        // An empty answer counts as content only if `onEmpty` is `.skip`.
        guard digest.options.onEmpty == .skip, DigestContent.isNothing(body) else { return (.malformed, .failed) }
        return (.fetched, .fetched(payload: "{}", etag: etag))
    }

    /// Returns the ETag if it can be sent back unchanged.
    private static func usable(_ etag: String?) -> String? {
        etag.flatMap { text in
            !text.isEmpty && text.utf8.count <= 256 && text.utf8.allSatisfy { (33...126).contains($0) } ? text : nil
        }
    }
}

extension DigestPrefetchOutcome {
    fileprivate init(_ failure: APIFailure) {
        if failure.status != nil {
            self = .refused
        } else if failure.failureClass == .timeout {
            self = .timeout
        } else if failure.failureClass == .cancelled {
            self = .cancelled
        } else {
            self = failure.failureClass == .malformed ? .malformed : .unreachable
        }
    }
}

/// Content of digests of polls: one more cycle of the poll, and its stored changes.
package struct PollContent: Sendable {
    /// The content of a digest.
    struct Changes: Sendable, Encodable {
        /// The maximum number of projects in ``names``.
        static let namedProjects = 5

        /// The number of changes.
        let count: Int
        /// The number of projects with changes.
        let projects: Int
        /// The projects that changed last, with an ellipsis if there are more or some have no name.
        let names: String

        var isEmpty: Bool { count == 0 }

        init(_ found: [Change], hostNames: [String: String]) {
            var seen: Set<String> = []
            let latest = found.filter { seen.insert($0.plan).inserted }
            count = found.count
            projects = latest.count
            let known = latest.compactMap { hostNames[$0.plan] ?? $0.name }.prefix(Self.namedProjects)
            names =
                known.map { BidiText.isolated($0) }.joined(separator: ", ") + (known.count < latest.count ? " …" : "")
        }

        var json: String { StableJSON.text(of: self) }
    }

    let polls: [Poll]
    let service: PollService
    let store: Store
    let server: String
    let environment: Environment
    /// The host program's project names by handle.
    let names: [String: String]

    /// Waits for cycles that have outlasted their fetch.
    func finish(_ names: [PollName]) async {
        for poll in polls where names.contains(poll.name) { _ = await service.join(poll) }
    }

    /// Runs the poll once, or waits for the cycle in flight, and lists the changes found since then.
    ///
    /// - Parameters:
    ///   - row: The last row not to list; `nil` selects by `since`.
    ///   - since: A time by the local clock.
    /// - Returns: The changes, `nil` after a failure, and the last row so far.
    func find(
        _ name: PollName,
        of account: DID,
        after row: Int64?,
        since: Timestamp
    ) async -> (outcome: DigestPrefetchOutcome, changes: Changes?, last: String?) {
        func failed(_ outcome: DigestPrefetchOutcome) -> (DigestPrefetchOutcome, Changes?, String?) {
            (Task.isCancelled ? .cancelled : outcome, nil, nil)
        }
        guard let poll = polls.first(where: { $0.name == name }) else { return (.unreachable, nil, nil) }
        switch await service.refresh(poll, shares: true).outcome {
        case .changed, .unchanged, .bootstrapped: break
        case .failed, .deferred, .cancelled: return failed(.unreachable)
        // Skipped: no plans, no token, no room, or nobody signed in.
        case nil: return failed(.refused)
        }
        let stream = poll.stream(of: account, on: server)
        do throws(StoreError) {
            // Rows carry the time of the server's clock.
            let since = since + (environment.clock.now - environment.time.now)
            let (changes, last) = try await store.digests.changesFound(in: stream, after: row, since: since)
            return (.fetched, Changes(changes, hostNames: names), String(last))
        } catch {
            return (.unreachable, nil, nil)
        }
    }
}
