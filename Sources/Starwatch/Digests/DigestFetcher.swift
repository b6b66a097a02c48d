import StarwatchCore
package import StarwatchStore
import StarwatchTransport

/// How the fetch of a digest ended; the label of ``DigestMetrics/prefetches``.
package enum DigestPrefetchOutcome: String, Sendable, CaseIterable, Codable {
    case fetched
    case notModified = "not_modified"
    case timeout
    /// No connection, or one that ended; a fetcher of the host's that threw.
    case unreachable
    /// An answer of another status than 200 or 304, or the latter without content to confirm; or the server had asked
    /// to be left alone until it was too late.
    case refused
    /// An answer that is not a JSON object, or is too long.
    case malformed
    /// The token's file cannot be used.
    case noToken = "no_token"
    /// The identity changed, or the agent was told to stop.
    case cancelled
}

/// Makes the one request of an occurrence. Never tries again.
package struct DigestFetcher: Sendable {
    /// Of the whole request (R-SCH-13), unless its options say less.
    package static let timeout = Duration.seconds(12)
    /// Far more than a notification can show.
    static let largestBytes = 262_144

    package typealias End = (outcome: DigestPrefetchOutcome, result: PrefetchResult)

    private let http: any HTTPTransport
    private let time: any TimeSource
    private let gates: Gates
    private let polls: PollContent?

    /// - Parameters:
    ///   - gates: What a server asked of any request binds that of a digest too.
    ///   - polls: What digests of polls are made of; `nil`: there are none.
    init(http: any HTTPTransport, time: any TimeSource, gates: Gates, polls: PollContent? = nil) {
        self.http = http
        self.time = time
        self.gates = gates
        self.polls = polls
    }

    /// - Parameter stored: What there is; its ETag is sent along.
    package func fetch(
        _ digest: Digest,
        for fetch: DigestService.Pass.Fetch,
        stored: StoredContent?
    ) async -> End {
        switch (digest.options.content, digest.fetcher) {
        case (.request(let request), _): return await send(request, of: digest, for: fetch, stored: stored)
        case (.fetcher, let fetcher?): return await ask(fetcher, of: digest, for: fetch, stored: stored)
        case (.poll(let poll), _): return await find(poll, of: digest, for: fetch, stored: stored)
        // Made without the host's fetchers, as for a look at the database only.
        case (.fetcher, nil): return (.unreachable, .failed)
        }
    }

    /// In place of an ETag, the content of a poll has the last row that an occurrence had listed: the next one begins
    /// after it, so no change is in two of them, or in none because a fetch failed. A fetch by hand does not move it.
    private func find(
        _ poll: PollName,
        of digest: Digest,
        for fetch: DigestService.Pass.Fetch,
        stored: StoredContent?
    ) async -> End {
        let since = digest.beginning(of: fetch.occurrence?.fireAt ?? time.now)
        let row = stored?.etag.flatMap { Int64($0) }
        let found = await HostCall.run(within: Self.timeout, on: time, late: PollContent.Found.failure(.timeout)) {
            await polls?.find(poll, of: fetch.account, after: row, since: since) ?? .failure(.unreachable)
        }
        switch found {
        case .changes(let changes, let last):
            let payload = changes.isEmpty && digest.options.onEmpty == .skip ? "{}" : changes.json
            return (.fetched, .fetched(payload: payload, etag: fetch.occurrence == nil ? stored?.etag : String(last)))
        case .failure(let outcome): return (outcome, .failed)
        case nil: return (.cancelled, .failed)
        }
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
        let end = await HostCall.run(within: Self.timeout, on: time, late: late) { () -> End in
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
        for occasion: DigestService.Pass.Fetch,
        stored: StoredContent?
    ) async -> End {
        guard var headers = RequestHeaders.of(fetch, token: digest.token) else { return (.noToken, .failed) }
        headers.append(("Accept", "application/json"))
        if let etag = stored?.etag { headers.append(("If-None-Match", etag)) }
        guard let origin = ServerURL.origin(of: fetch.url) else { return (.unreachable, .failed) }
        let gate = gates.gate(to: origin, for: occasion.account)
        // At its time nothing is fetched; one for content only is over after what a request may take.
        let end = occasion.occurrence?.fireAt ?? time.now + Self.timeout
        guard let admittedAt = await takeTurn(at: gate, before: end) else {
            return (Task.isCancelled ? .cancelled : .refused, .failed)
        }
        let exchange = await http.exchange(
            HTTPRequest(
                method: fetch.method == .get ? .get : .post,
                url: fetch.url,
                headers: headers,
                body: fetch.method == .post ? Array((fetch.body ?? "").utf8) : nil,
                timeout: min(fetch.timeout ?? Self.timeout, Self.timeout, end - admittedAt),
                maxResponseBytes: Self.largestBytes
            )
        )
        await gate.ended(admittedAt: admittedAt, now: time.now)
        await gates.learn(from: exchange, of: origin, at: gate)
        if let wait = serverWait(in: exchange) {
            await gates.lookAtClock()
            await gate.hold(until: time.now + wait, now: time.now)
        }
        switch exchange.result {
        case .failure(.timeout): return (.timeout, .failed)
        case .failure(.cancelled): return (.cancelled, .failed)
        case .failure(.tooLarge), .failure(.malformed): return (.malformed, .failed)
        case .failure: return (.unreachable, .failed)
        case .success(let response)
        where response.status == 200 || response.status == 204 && digest.options.onEmpty == .skip:
            return Self.received(response.body, etag: Self.usable(response.headers["etag"]), of: digest)
        case .success(let response) where response.status == 304 && stored != nil: return (.notModified, .notModified)
        case .success: return (.refused, .failed)
        }
    }

    /// Waits until the request may go.
    ///
    /// - Returns: When it was counted; `nil` when it may not go before `end`, or nobody can tell.
    private func takeTurn(at gate: any RequestGate, before end: Timestamp) async -> Timestamp? {
        let ticket = WaitingLine.Ticket()
        let turn = await takeTurn(at: gate, before: end, ticket)
        if turn == nil { await gate.leave(ticket) }
        return turn
    }

    private func takeTurn(
        at gate: any RequestGate,
        before end: Timestamp,
        _ ticket: WaitingLine.Ticket
    ) async -> Timestamp? {
        while !Task.isCancelled {
            await gates.lookAtClock()
            let now = time.now
            do {
                guard now < end else { return nil }
                guard let until = try await gate.admit(ticket, now: now) else { return now }
                guard until < end else { return nil }
                try await time.sleep(for: until - now)
            } catch {
                return nil
            }
        }
        return nil
    }

    /// How long the server asks to be left alone, if it does.
    private func serverWait(in exchange: HTTPExchange) -> Duration? {
        guard case .success(let response) = exchange.result else { return nil }
        return AnswerClassifier.classify(
            status: response.status,
            headers: response.headers,
            body: response.body,
            now: time.now
        ).flatMap { RetryPolicy.serverWait(for: $0) }
    }

    private static func received(_ body: [UInt8], etag: String?, of digest: Digest) -> End {
        guard body.count <= largestBytes else { return (.malformed, .failed) }
        if DigestContent(json: body) != nil {
            return (.fetched, .fetched(payload: String(decoding: body, as: UTF8.self), etag: etag))
        }
        // Only where somebody wants to know of it is nothing an answer.
        guard digest.options.onEmpty == .skip, DigestContent.isNothing(body) else { return (.malformed, .failed) }
        return (.fetched, .fetched(payload: "{}", etag: etag))
    }

    /// An ETag, when it can be sent back as it is.
    private static func usable(_ etag: String?) -> String? {
        etag.flatMap { text in
            !text.isEmpty && text.utf8.count <= 256 && text.utf8.allSatisfy { (33...126).contains($0) } ? text : nil
        }
    }
}

/// The headers of requests whose URL the configuration names.
enum RequestHeaders {
    /// `nil` when there is a token that cannot be read.
    static func of(_ fetch: FetchOptions, token: SecretFile?) -> [(name: String, value: String)]? {
        var headers: [(name: String, value: String)] = [("User-Agent", AgentVersion.userAgent)]
        if fetch.body != nil || fetch.method == .post { headers.append(("Content-Type", "application/json")) }
        headers += fetch.headers.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
        if var token {
            guard let value = try? token.read() else { return nil }
            headers.append(("Authorization", "Bearer " + String(decoding: value, as: UTF8.self)))
        }
        return headers
    }
}
