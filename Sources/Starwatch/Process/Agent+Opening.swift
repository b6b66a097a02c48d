import Foundation
import Logging
import StarwatchCore
import StarwatchStore
import StarwatchTelemetry
import StarwatchTransport

extension Agent {
    static func open(
        _ options: AgentOptions,
        masterKey source: MasterKeySource,
        log: AgentLog,
        change: (inout StoreOptions) -> Void
    ) async throws(AgentError) -> Store {
        var store = StoreOptions(options.storage)
        store.polls = Set(options.polls.map(\.name))
        store.starredPolls = Set(options.polls.filter { $0.kind == .starredProjects }.map(\.name))
        store.optionalSinks = Set(options.delivery.sinks.filter { !$0.isRequired }.map(\.name))
        store.observer = StoreReporter(
            metrics: log.metrics,
            logger: log.logger,
            housekeeping: log.recorder.housekeeping
        )
        store.masterKey = try await source.read()
        change(&store)
        do throws(StoreError) {
            return try source.open(store)
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

    /// Checks that the next agent can open the database with its master key.
    static func checkMasterKey(
        _ options: AgentOptions,
        of store: Store,
        time: any TimeSource
    ) async throws(AgentError) {
        let key = try await MasterKeySource(
            options.security,
            credentialsDirectory: ProcessInfo.processInfo.environment["CREDENTIALS_DIRECTORY"],
            time: time
        ).read(for: await store.masterKeyID)
        guard key?.id != (await store.masterKeyID) else { return }
        throw AgentError(.failed, "The database does not open with the master key of the new configuration.")
    }

    /// Publishes the age of the signing key. An age that cannot be read stays what it was.
    func publishKeyAge() async {
        if options.auth.storedKeys {
            guard let did = try? await store.activeIdentity().did else { return metrics.clock.keyCreated.set(0) }
            guard let keys = try? await store.signingKeys(of: did) else { return }
            let newest = keys.first { $0.endsAt == nil && $0.algorithm == options.auth.signingAlgorithm }
            metrics.clock.keyCreated.set(newest?.createdAt.seconds ?? 0)
        } else if let file = options.auth.keyFile ?? options.auth.secretFile,
            let written = try? FileManager.default.attributesOfItem(atPath: file)[.modificationDate] as? Date
        {
            metrics.clock.keyCreated.set(written.timeIntervalSince1970)
        }
    }

    func publishConfiguration() {
        metrics.outbox.capacity.set(Double(options.outbox.maxUndelivered))
        metrics.clock.maxSkew.set(options.clock.maxSkew.inSeconds)
        metrics.reloadSuccessful.set(1)
        metrics.reloadTime.set(time.now.seconds)
        for poll in polls {
            metrics.polls.staleAfter[poll.label].set(poll.options.staleAfter.inSeconds)
            metrics.polls.interval[poll.label].set(poll.schedule.longestGap(from: time.now).inSeconds)
        }
    }
}

/// Counts and logs what happens in the store.
private struct StoreReporter: StoreObserver {
    let metrics: AgentMetrics
    let logger: Logger
    let housekeeping: Signal

    func ended(_ operation: StoreOperation, after duration: Duration) {
        metrics.transactions[TransactionGroup(operation)].observe(duration)
    }

    func failed(_ kind: StoreErrorKind) {
        metrics.storeErrors[kind].increment()
        // It probes a failed store every 2 s.
        housekeeping.raise()
    }

    func changed(_ rows: [OutboxChange: Int]) {
        for (change, count) in rows { metrics.outbox.changes[change].increment(by: UInt64(count)) }
    }

    func missedCycle(_ error: StoreError) { logger.log(.pollStoreFailed, [.error: "\(error.description)"]) }
}
