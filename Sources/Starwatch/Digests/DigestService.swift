import Logging
import ServiceLifecycle
package import StarwatchCore
package import StarwatchStore
import StarwatchTelemetry
import StarwatchTransport
import Synchronization

/// Arms digests a day ahead, has their content fetched shortly before their time, and hands them to the dispatcher at
/// their time. It fetches nothing at that time.
package final class DigestService: Service {
    /// The results of one pass.
    package struct Pass: Sendable, Hashable {
        /// The single fetch of an occurrence, or a content-only fetch. It is already marked as started, so no other
        /// pass makes it.
        package struct Fetch: Sendable, Hashable {
            package let digest: DigestName
            package let occurrence: DigestOccurrence?
            package let account: DID
            package let generation: Int
        }

        package var scheduled = 0
        /// The number of replaced texts.
        package var armed = 0
        package var fired = 0
        package var shown = 0
        /// Occurrences not shown, for any reason.
        package var missing = 0
        package var fetches: [Fetch] = []
        /// The time of the next work; `nil` if nothing is planned.
        package var next: Timestamp?
    }

    /// The parts that fetch content, write events and word texts.
    package struct Tools: Sendable {
        let fetcher: DigestFetcher
        let writer: CallbackWriter
        let locale: String
    }

    /// The maximum lag of ``DigestState/armedThrough``.
    static let topUp = Duration.seconds(3600)

    let digests: [Digest]
    let sinks: [SinkSlot]
    let store: Store
    private let account: Account
    let tools: Tools
    let environment: Environment
    let wakes: Wakes
    let passes = PassRunner()
    private let said = Mutex<Set<String>>([])
    private let warmed = Mutex<(generation: Int, sources: Set<String>)>((0, []))

    package init(
        digests: [Digest],
        sinks: [SinkSlot],
        store: Store,
        account: Account,
        tools: Tools,
        environment: Environment,
        wakes: Wakes
    ) {
        self.digests = digests
        self.sinks = sinks
        self.store = store
        self.account = account
        self.tools = tools
        self.environment = environment
        self.wakes = wakes
    }

    var identity: IdentityContext { account.identity }
    var clock: ServerClock { environment.clock }
    var time: any TimeSource { environment.time }
    var metrics: AgentMetrics { environment.metrics }
    var logger: Logger { environment.logger }

    /// Makes passes when work is due, and fetches concurrently.
    package func run() async throws {
        await cancelWhenGracefulShutdown {
            await withDiscardingTaskGroup { group in
                while !Task.isCancelled {
                    let pass = await self.pass()
                    for fetch in pass.fetches { group.addTask { await self.fetch(fetch) } }
                    let now = self.time.now
                    let look = ClockLook.next(after: now)
                    await self.wakes.digests.wait(for: max(min(pass.next ?? look, look) - now, .zero), on: self.time)
                }
                group.cancelAll()
            }
        }
    }

    /// Arms, fires and ends occurrences, and returns the fetches to make. Passes never overlap.
    package func pass() async -> Pass {
        await passes.run { await self.passOnce() } ?? Pass()
    }

    /// Cancels the work in flight because the identity changed, and returns when it has ended.
    package func abort() async {
        await passes.abort()
        wakes.digests.raise()
    }

    private func passOnce() async -> Pass {
        var pass = Pass()
        do throws(StoreError) {
            let active = try await identity.current().identity
            guard let did = active.did else {
                store.health.ended(.digests, failed: false)
                return pass
            }
            let now = time.now
            var state = try await store.digestState(of: did, since: now - .days(1))
            if try await giveUp(state, now) { state = try await store.digestState(of: did, since: now - .days(1)) }
            var contents: [DigestName: StoredContent] = [:]
            for digest in digests {
                contents[digest.name] = try await store.digestContent(source: digest.source, account: did)
            }
            let plans = digests.map(\.plan)
            let decision = DigestDecision.decide(
                plans: plans,
                rows: state.rows.map(\.row),
                contents: contents.mapValues(\.validatedAt),
                empty: Set(
                    digests.filter { $0.options.onEmpty == .skip && contents[$0.name]?.isEmpty == true }.map(\.name)
                ),
                armedThrough: state.armedThrough,
                now: now
            )
            pass.next = decision.next
            var maker = DigestChangeMaker(state: state, contents: contents, digests: digests, plans: plans, now: now)
            maker.locale = tools.locale
            maker.endFired()
            maker.make(decision, sinks: sinks.filter { !$0.isDisabled }.map(\.name))
            maker.extend(by: Self.topUp)
            for ending in maker.changes.ended { maker.tell(ending, did, tools.writer) }
            if !maker.changes.isEmpty {
                guard let dropped = try await apply(maker.changes, of: did, generation: active.generation) else {
                    pass.next = now
                    return pass
                }
                note(maker, decision, dropped: dropped, now: now, &pass)
            }
            pass.fetches += decision.prefetches.map {
                Pass.Fetch(digest: $0.digest, occurrence: $0, account: did, generation: active.generation)
            }
            warmUp(contents, decision, did, active.generation, &pass)
            store.health.ended(.digests, failed: false)
        } catch {
            logger.log(.digestStoreFailed, [.error: "\(error.description)"])
            store.health.ended(.digests, failed: true)
            pass.next = time.now + .seconds(5)
        }
        return pass
    }

    /// Withdraws from the sinks the digests that are too old.
    private func giveUp(_ state: DigestState, _ now: Timestamp) async throws(StoreError) -> Bool {
        var isAny = false
        for row in state.rows where row.row.isFired && row.notification == .open {
            guard let ttl = digests.first(where: { $0.name == row.row.occurrence.digest })?.options.longestAge,
                DigestChangeMaker.isTooOld(row, ttl: ttl, now: now)
            else { continue }
            try await store.giveUpDigest(row.token, now: clock.now)
            isAny = true
        }
        return isAny
    }

    /// Fetches content for digests that have none, once after every start and every change of identity.
    private func warmUp(
        _ contents: [DigestName: StoredContent],
        _ decision: DigestDecision,
        _ account: DID,
        _ generation: Int,
        _ pass: inout Pass
    ) {
        for digest in digests where digest.options.onMissing != .skip {
            let isFirst = warmed.withLock { warmed in
                if warmed.generation != generation { warmed = (generation, []) }
                return warmed.sources.insert(digest.source).inserted
            }
            guard isFirst, contents[digest.name] == nil,
                !pass.fetches.contains(where: { $0.digest == digest.name })
            else { continue }
            pass.fetches.append(
                Pass.Fetch(digest: digest.name, occurrence: nil, account: account, generation: generation)
            )
        }
    }

    // MARK: - What is said of it

    private func note(
        _ maker: DigestChangeMaker,
        _ decision: DigestDecision,
        dropped: Int,
        now: Timestamp,
        _ pass: inout Pass
    ) {
        let changes = maker.changes
        pass.scheduled = decision.scheduled.count
        pass.armed = decision.armed.count
        metrics.digests.deliveries[.scheduled].increment(by: UInt64(pass.scheduled))
        for firing in changes.fired {
            pass.fired += 1
            let late = now - firing.occurrence.fireAt
            metrics.digests.lateness.observe(late)
            logger.log(
                .digestFired,
                [
                    .runID: "\(firing.runID)", .digest: "\(firing.occurrence.digest)",
                    .sizeMilliseconds: .number(late.wholeMilliseconds),
                ]
            )
        }
        for ending in changes.ended {
            metrics.digests.deliveries[ending.status].increment()
            switch ending.status {
            case .shown:
                pass.shown += 1
                logger.log(.digestShown, [.digest: "\(ending.occurrence.digest)"])
            case .skipped: logger.log(.digestEmpty, [.digest: "\(ending.occurrence.digest)"])
            case .scheduled, .skippedStale, .error:
                pass.missing += 1
                logger.log(
                    .digestNotShown,
                    [.digest: "\(ending.occurrence.digest)", .reason: "\(ending.code?.rawValue ?? "")"]
                )
            }
        }
        noteUnknown(maker)
        metrics.callbacks.noteQueued(changes.events, dropped: dropped, logger)
        if pass.fired > 0 { wakes.dispatch.raise() }
        if !changes.events.isEmpty { wakes.callbacks.raise() }
    }

    /// Stores changes. Returns the number of dropped events, or `nil` if the identity has changed.
    func apply(_ changes: DigestChanges, of account: DID, generation: Int) async throws(StoreError) -> Int? {
        let dropped = try await store.apply(
            changes,
            of: account,
            generation: generation,
            server: self.account.server,
            now: clock.now
        )
        // Cached identity data is read again.
        if dropped == nil { identity.invalidate() }
        return dropped
    }

    /// Logs, once each, the template names that the content does not have.
    func noteUnknown(_ maker: DigestChangeMaker) {
        for (digest, variable) in maker.unknown
        where said.withLock({ $0.insert("\(digest) \(variable)").inserted }) {
            logger.log(.digestVariable, [.digest: "\(digest)", .path: "\(variable)"])
        }
    }
}

extension StoredContent {
    /// Returns whether it is empty (``DigestContent/isEmpty``).
    var isEmpty: Bool { DigestContent(json: Array(payload.utf8))?.isEmpty ?? false }
}
