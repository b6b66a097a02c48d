import Logging
import StarwatchCore
import StarwatchPolling
import StarwatchStore
import StarwatchTelemetry

/// One pass of the digests: the values that its steps share. ``DigestService/work(_:)`` lists the steps.
struct DigestPass {
    let service: DigestService
    let account: DID
    let generation: Int
    let now: Timestamp
    private let plans: [DigestPlan]
    private let wanted: Set<DigestName>
    private(set) var result = DigestService.Pass()
    private var state: DigestState
    private var contents: [DigestName: StoredContent] = [:]

    /// - Returns: `nil` if there is no identity.
    init?(_ service: DigestService) async throws(StoreError) {
        let current = try await service.account.identity.current()
        guard let did = current.identity.did else { return nil }
        self.service = service
        account = did
        generation = current.identity.generation
        now = service.now
        wanted = service.wanted(by: current)
        plans = service.digests.map(\.plan)
        state = try await service.store.digests.state(of: did, since: now - .days(1))
    }

    /// Withdraws from the sinks the digests that are too old.
    mutating func withdrawOld() async throws(StoreError) {
        var isAny = false
        for row in state.rows where row.row.isFired && row.notification == .open {
            guard let digest = service.digests.first(where: { $0.name == row.row.occurrence.digest }),
                DigestChangeMaker.isTooOld(row, ttl: digest.options.longestAge, now: now)
            else { continue }
            try await service.store.digests.giveUp(row.token, of: account, now: service.clock.now)
            isAny = true
        }
        if isAny { state = try await service.store.digests.state(of: account, since: now - .days(1)) }
    }

    mutating func readContents() async throws(StoreError) {
        for digest in service.digests {
            contents[digest.name] = try await service.store.digests.content(source: digest.source, account: account)
        }
    }

    mutating func decide() -> DigestDecision {
        let empty = service.digests.filter { digest in
            digest.options.onEmpty == .skip && contents[digest.name]?.isEmpty == true
        }
        let decision = DigestDecision.decide(
            // The others count as armed meanwhile, so that nothing is missed.
            plans: plans.filter { wanted.contains($0.name) },
            rows: state.rows.map(\.row),
            contents: contents.mapValues(\.validatedAt),
            empty: Set(empty.map(\.name)),
            armedThrough: state.armedThrough,
            now: now
        )
        result.next = decision.next
        return decision
    }

    /// Stores a decision.
    ///
    /// - Returns: `false` if the identity has changed.
    mutating func store(_ decision: DigestDecision) async throws(StoreError) -> Bool {
        var maker = DigestChangeMaker(
            state: state,
            contents: contents,
            digests: service.digests,
            plans: plans,
            now: now
        )
        maker.locale = service.locale
        maker.endFired()
        maker.make(decision, sinks: decision.fired.isEmpty ? [] : try await service.sinkNames(of: account))
        maker.extend(by: DigestService.topUp)
        maker.addEvents(of: account, service.writer)
        guard !maker.changes.isEmpty else { return true }
        guard let dropped = try await service.apply(maker.changes, of: account, generation: generation) else {
            result.next = now
            return false
        }
        result.scheduled = decision.scheduled.count
        service.metrics.digests.deliveries[.scheduled].increment(by: UInt64(result.scheduled))
        count(maker.changes)
        service.logUnknown(of: maker)
        service.metrics.callbacks.count(maker.changes.events, dropped: dropped, service.logger)
        if result.fired > 0 { service.wakes.dispatch.raise() }
        if !maker.changes.events.isEmpty { service.wakes.callbacks.raise() }
        return true
    }

    /// Plans the decision's fetches, and those of digests without content, once after every start and every change of
    /// identity. A visit does not know of others since the start, so for one of many accounts before the first arming.
    mutating func planFetches(_ decision: DigestDecision) {
        for occurrence in decision.prefetches { planFetch(of: occurrence.digest, for: occurrence) }
        for digest in service.digests where digest.options.onMissing != .skip && wanted.contains(digest.name) {
            let isFirst =
                service.account.identity.served == nil
                ? service.isFirst(digest.source, generation: generation) : state.armedThrough[digest.name] == nil
            guard isFirst, contents[digest.name] == nil, !result.fetches.contains(where: { $0.digest == digest.name })
            else { continue }
            planFetch(of: digest.name, for: nil)
        }
    }

    private mutating func planFetch(of digest: DigestName, for occurrence: DigestOccurrence?) {
        result.fetches.append(.init(digest: digest, occurrence: occurrence, account: account, generation: generation))
    }

    /// Counts and logs the occurrences that were fired or have ended.
    private mutating func count(_ changes: DigestChanges) {
        let (metrics, logger) = (service.metrics.digests, service.logger)
        for firing in changes.fired {
            result.fired += 1
            let late = now - firing.occurrence.fireAt
            metrics.lateness.observe(late)
            logger.log(
                .digestFired,
                [
                    .runID: "\(firing.runID)", .digest: "\(firing.occurrence.digest)",
                    .sizeMilliseconds: .number(late.wholeMilliseconds),
                ]
            )
        }
        for ending in changes.ended {
            metrics.deliveries[ending.status].increment()
            switch ending.status {
            case .shown:
                result.shown += 1
                logger.log(.digestShown, [.digest: "\(ending.occurrence.digest)"])
            case .skipped: logger.log(.digestEmpty, [.digest: "\(ending.occurrence.digest)"])
            case .scheduled, .skippedStale, .error:
                result.missing += 1
                logger.log(
                    .digestNotShown,
                    [.digest: "\(ending.occurrence.digest)", .reason: "\(ending.code?.rawValue ?? "")"]
                )
            }
        }
    }
}

extension StoredContent {
    /// Returns whether it is empty (``DigestContent/isEmpty``).
    var isEmpty: Bool { DigestContent(json: Array(payload.utf8))?.isEmpty ?? false }
}
