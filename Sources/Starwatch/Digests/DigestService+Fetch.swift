import Logging
import StarwatchCore
import StarwatchStore
import StarwatchTelemetry
import StarwatchTransport

extension DigestService {
    /// Makes one fetch that a pass announced, and stores the result. A failure is final.
    ///
    /// - Returns: The outcome; `nil` if the database failed.
    @discardableResult
    package func fetch(_ fetch: Pass.Fetch) async -> DigestPrefetchOutcome? {
        guard let running = start(fetch) else { return nil }
        return await running.value() ?? nil
    }

    /// Starts the same. Other passes do not wait for it.
    func start(_ fetch: Pass.Fetch) -> PassRunner.Running<DigestPrefetchOutcome?>? {
        guard let digest = digests.first(where: { $0.name == fetch.digest }) else { return nil }
        return passes.start(concurrently: true) {
            let outcome = await self.fetch(fetch, of: digest, runID: RandomID.runID())
            self.wakes.digests.raise()
            return outcome
        }
    }

    private func fetch(_ fetch: Pass.Fetch, of digest: Digest, runID: String) async -> DigestPrefetchOutcome? {
        do throws(StoreError) {
            let stored = try await store.digests.content(source: digest.source, account: fetch.account)
            let ((outcome, result), at) = await fetcher.fetch(digest, for: fetch, stored: stored)
            metrics.digests.prefetches[outcome].increment()
            var events: [EventDraft] = []
            if let reason = outcome.failure(of: digest.options.content) {
                logger.log(
                    .digestFetchFailed,
                    [
                        .runID: "\(runID)", .digest: "\(digest.name)", .outcome: "\(outcome.rawValue)",
                        .error: "\(reason)",
                    ]
                )
                if let occurrence = fetch.occurrence,
                    let event = writer.draft(
                        .error,
                        account: fetch.account,
                        occurrence: occurrence,
                        status: .scheduled,
                        code: .fetchFailed,
                        now: at
                    )
                {
                    events.append(event)
                }
            }
            let dropped = try await store.digests.finishPrefetch(
                outcome == .cancelled ? nil : result,
                slot: fetch.occurrence?.slot ?? digest.name.rawValue,
                source: digest.source,
                occurrence: fetch.occurrence,
                of: fetch.account,
                generation: fetch.generation,
                now: at,
                events: events
            )
            guard let dropped else { return .cancelled }
            if !events.isEmpty {
                metrics.callbacks.count(events, dropped: dropped, logger)
                wakes.callbacks.raise()
            }
            return outcome
        } catch {
            logger.log(.digestStoreFailed, [.error: "\(error.description)"])
            if error != .leaseLost { store.health.ended(.digests, failed: true) }
            return nil
        }
    }
}

extension DigestPrefetchOutcome {
    /// The failure as one sentence; `nil` if the fetch succeeded or was cancelled.
    func failure(of content: ContentSource) -> String? {
        let isFetcher = content.fetcherName != nil
        let isPoll = content.pollName != nil
        return switch self {
        case .fetched, .notModified, .cancelled: nil
        case .timeout where isPoll: "The poll of the content did not end in time."
        case .refused where isPoll: "The poll of the content was skipped; see starwatch status."
        case .unreachable where isPoll: "The poll of the content failed; see starwatch status."
        case .timeout: "The content did not come in time."
        case .unreachable where isFetcher: "The program's fetcher of the content failed."
        case .unreachable: "The server of the content cannot be reached."
        case .refused where isFetcher: "The program's fetcher confirmed content that there is not."
        case .refused: "The server of the content refused the request, or asked not to be asked until it was too late."
        case .malformed: "The content is not a JSON object, or longer than 256 KiB."
        case .noToken: "The digest's token_file cannot be read."
        }
    }
}
