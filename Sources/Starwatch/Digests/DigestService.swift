import Logging
import ServiceLifecycle
package import StarwatchCore
package import StarwatchPolling
package import StarwatchStore
import StarwatchTelemetry
import Synchronization

/// Arms digests a day ahead, has their content fetched shortly before their time, and hands them to the dispatcher at
/// their time. It fetches nothing at that time.
package final class DigestService: Worker {
    /// The results of one pass.
    package struct Pass: WorkerPass, Hashable {
        /// The single fetch of an occurrence, or a content-only fetch. It is already marked as started, so no other
        /// pass makes it.
        package struct Fetch: Sendable, Hashable {
            package let digest: DigestName
            package let occurrence: DigestOccurrence?
            package let account: DID
            package let generation: Int
        }

        package var scheduled = 0
        package var fired = 0
        package var shown = 0
        /// Occurrences not shown, for any reason.
        package var missing = 0
        package var fetches: [Fetch] = []
        package var next: Timestamp?

        package init() {}
    }

    /// The parts that fetch content, write events and word texts.
    package struct Tools: Sendable {
        let fetcher: DigestFetcher
        let writer: CallbackWriter
        let locale: String
    }

    package static let finishes = false
    package static let storeUser = StoreUser.digests
    package static let storeFailed = AgentEvent.digestStoreFailed
    /// The maximum lag of ``DigestState/armedThrough``.
    static let topUp = Duration.seconds(3600)

    let digests: [Digest]
    let sinks: [SinkSlot]
    let tools: Tools
    package let context: WorkerContext
    package let passes = PassRunner()
    private let loggedVariables = Mutex<Set<String>>([])
    private let warmed = Mutex<(generation: Int, sources: Set<String>)>((0, []))

    package init(digests: [Digest], sinks: [SinkSlot], tools: Tools, context: WorkerContext) {
        self.digests = digests
        self.sinks = sinks
        self.tools = tools
        self.context = context
    }

    package var wake: Signal { wakes.digests }
    package var now: Timestamp { time.now }

    /// Makes passes when work is due, and fetches concurrently.
    package func run() async throws {
        await cancelWhenGracefulShutdown {
            await withDiscardingTaskGroup { group in
                await self.repeatPasses { pass in
                    for fetch in pass.fetches { group.addTask { await self.fetch(fetch) } }
                }
                group.cancelAll()
            }
        }
    }

    /// Cancels the work in flight because the identity changed, and returns when it has ended.
    package func abort() async {
        await passes.abort()
        wakes.digests.raise()
    }

    /// Arms, fires and ends occurrences, and returns the fetches to make.
    package func work(_ result: inout Pass) async throws(StoreError) {
        guard var pass = try await DigestPass(self) else { return }
        defer { result = pass.result }
        try await pass.withdrawOld()
        try await pass.readContents()
        let decision = pass.decide()
        guard try await pass.store(decision) else { return }
        pass.planFetches(decision)
    }

    /// Stores changes. Returns the number of dropped events, or `nil` if the identity has changed.
    func apply(_ changes: DigestChanges, of account: DID, generation: Int) async throws(StoreError) -> Int? {
        let dropped = try await store.digests.apply(
            changes,
            of: account,
            generation: generation,
            server: self.account.server,
            now: clock.now
        )
        // Cached identity data is read again.
        if dropped == nil { self.account.identity.invalidate() }
        return dropped
    }

    /// Logs, once each, the template names that the content does not have.
    func logUnknown(of maker: DigestChangeMaker) {
        for (digest, variable) in maker.unknown
        where loggedVariables.withLock({ $0.insert("\(digest) \(variable)").inserted }) {
            logger.log(.digestVariable, [.digest: "\(digest)", .path: "\(variable)"])
        }
    }

    /// Returns whether this is the first question about a source since the start or the last change of identity.
    func isFirst(_ source: String, generation: Int) -> Bool {
        warmed.withLock { warmed in
            if warmed.generation != generation { warmed = (generation, []) }
            return warmed.sources.insert(source).inserted
        }
    }
}
