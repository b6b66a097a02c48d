import StarwatchCore
package import StarwatchStore
package import StarwatchTransport

/// How the fetch of a digest ended; the label of ``DigestMetrics/prefetches``.
package enum DigestPrefetchOutcome: String, Sendable, CaseIterable {
    case fetched
    case notModified = "not_modified"
    case timeout
    /// No connection, or one that ended.
    case unreachable
    /// An answer of another status than 200 or 304.
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
    /// Of the whole request (R-SCH-13).
    package static let timeout = Duration.seconds(12)
    /// Far more than a notification can show.
    static let largestBytes = 262_144

    private let http: any HTTPTransport

    package init(http: any HTTPTransport) { self.http = http }

    /// - Parameter stored: What there is; its ETag is sent along.
    package func fetch(
        _ digest: Digest,
        stored: StoredContent?
    ) async -> (outcome: DigestPrefetchOutcome, result: PrefetchResult) {
        guard var headers = RequestHeaders.of(digest.options.fetch, token: digest.token) else {
            return (.noToken, .failed)
        }
        headers.append(("Accept", "application/json"))
        if let etag = stored?.etag { headers.append(("If-None-Match", etag)) }
        let fetch = digest.options.fetch
        let exchange = await http.exchange(
            HTTPRequest(
                method: fetch.method == .get ? .get : .post,
                url: fetch.url,
                headers: headers,
                body: fetch.method == .post ? Array((fetch.body ?? "").utf8) : nil,
                timeout: Self.timeout,
                maxResponseBytes: Self.largestBytes
            )
        )
        switch exchange.result {
        case .failure(.timeout): return (.timeout, .failed)
        case .failure(.cancelled): return (.cancelled, .failed)
        case .failure(.tooLarge), .failure(.malformed): return (.malformed, .failed)
        case .failure: return (.unreachable, .failed)
        case .success(let response) where response.status == 200:
            guard DigestContent(json: response.body) != nil else { return (.malformed, .failed) }
            return (
                .fetched,
                .fetched(payload: String(decoding: response.body, as: UTF8.self), etag: Self.etag(response.headers))
            )
        case .success(let response) where response.status == 304 && stored != nil: return (.notModified, .notModified)
        case .success: return (.refused, .failed)
        }
    }

    /// The answer's ETag, when it can be sent back as it is.
    private static func etag(_ headers: HTTPHeaders) -> String? {
        headers["etag"].flatMap { text in
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
