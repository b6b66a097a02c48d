import Foundation
import Logging
import StarwatchCore
import StarwatchStore
import StarwatchTelemetry
import StarwatchTransport

extension Agent {
    static func open(
        _ options: AgentOptions,
        metrics: AgentMetrics,
        logger: Logger,
        change: (inout StoreOptions) -> Void
    ) throws(AgentError) -> Store {
        var store = StoreOptions(path: options.storage.path)
        store.owner = options.storage.owner == .agent ? .agent : .host
        store.polls = Set(options.polls.map(\.name))
        store.starredPolls = Set(options.polls.filter { $0.kind == .starredProjects }.map(\.name))
        store.optionalSinks = Set(options.delivery.sinks.filter { !$0.isRequired }.map(\.name))
        store.onTransaction = { metrics.transactions[TransactionGroup($0)].observe($1) }
        store.onError = { metrics.storeErrors[$0].increment() }
        store.onUnrecorded = { logger.log(.pollStoreFailed, [.error: "\($0.description)"]) }
        store.onChanges = { changes in
            for (change, count) in changes { metrics.outbox.changes[change].increment(by: UInt64(count)) }
        }
        change(&store)
        do {
            return try Store(store)
        } catch {
            throw AgentError(.configuration, error.description)
        }
    }

    /// Checks that the next agent can write to the database, because this agent ends before the next one starts.
    ///
    /// - Returns: The active account.
    static func checkReload(_ store: Store) async throws(AgentError) -> DID? {
        do throws(StoreError) {
            try await store.probe(writes: true)
            return try await store.activeIdentity().did
        } catch {
            throw AgentError(.failed, error.description)
        }
    }

    func publishConfiguration() {
        metrics.outbox.capacity.set(Double(options.outbox.maxUndelivered))
        metrics.clock.maxSkew.set(options.clock.maxSkew.inSeconds)
        if let file = options.auth.keyFile ?? options.auth.secretFile,
            let written = try? FileManager.default.attributesOfItem(atPath: file)[.modificationDate] as? Date
        {
            metrics.clock.keyCreated.set(written.timeIntervalSince1970)
        }
        metrics.reloadSuccessful.set(1)
        metrics.reloadTime.set(time.now.seconds)
        for poll in polls {
            metrics.polls.staleAfter[poll.label].set(poll.options.staleAfter.inSeconds)
            metrics.polls.interval[poll.label].set(poll.schedule.longestGap(from: time.now).inSeconds)
        }
    }
}
