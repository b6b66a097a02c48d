import Logging
import StarwatchCore
import StarwatchPolling
import StarwatchStore
import StarwatchTelemetry
import StarwatchTransport

/// The opening of the agent's database.
extension AgentProcess {
    static func openStore(
        _ options: AgentOptions,
        log: AgentLog,
        time: any TimeSource,
        change: (inout StoreOptions) -> Void
    ) async throws(AgentError) -> Store {
        let source = MasterKeySource(options: options.security, time: time)
        var store = StoreOptions(options.storage)
        store.polls = Set(options.polls.map(\.name))
        store.pollsOfKind = Dictionary(grouping: options.polls, by: \.kind).mapValues { Set($0.map(\.name)) }
        store.disabledPolls = Set(options.polls.filter { !$0.isEnabled }.map(\.name))
        store.optionalSinks = Set(options.delivery.sinks.filter { !$0.isRequired }.map(\.name))
        store.observer = StoreReporter(
            metrics: log.metrics,
            logger: log.logger,
            housekeeping: log.recorder.housekeeping
        )
        store.masterKey = try await source.read()
        store.now = { time.now }
        change(&store)
        do throws(StoreError) {
            return try source.open(store)
        } catch {
            throw AgentError.database(error)
        }
    }

    /// Checks that the next agent can write to the database and open it with its master key, because this agent ends
    /// before the next one starts.
    ///
    /// - Returns: The active account.
    func checkStore(for options: AgentOptions) async throws(AgentError) -> DID? {
        let account: DID?
        do throws(StoreError) {
            try await store.status.probe(writes: true)
            account = try await store.identity.active().did
        } catch {
            throw AgentError(.failed, error.description)
        }
        let id = await store.keys.masterKeyID
        let source = MasterKeySource(options: options.security, time: environment.time)
        guard try await source.read(for: id)?.id == id else {
            throw AgentError(.failed, "The database does not open with the master key of the new configuration.")
        }
        return account
    }

    /// Brings the database in line with the configuration.
    static func prepare(
        _ store: Store,
        _ options: AgentOptions,
        server: String,
        hostSinks: [String],
        metrics: OutboxMetrics,
        now: Timestamp
    ) async throws(AgentError) -> Installation {
        do throws(StoreError) {
            let installation = try await store.identity.installation()
            if store.reads { return installation }
            // Runs before the configured identity is seeded, because a new account needs no introduction.
            _ = try await store.notifications.introduce(
                feature: FeatureNotification.starredProjects.rawValue,
                now: now,
                token: RandomID.notificationID
            )
            let active = try await store.identity.seedIfEmpty(options.initialIdentity, server: server, now: now)
            if options.fleetOfMany != nil, let did = active.did {
                // The database of one person becomes one of many: its account goes on where it was.
                _ = try await store.accounts.add([AccountDraft(did: did)], server: server, now: now) { _ in now }
            } else if let did = active.did {
                let plans = options.polls.flatMap { $0.kind.needsStars ? $0.planIDs : [] }
                _ = try await store.stars.seedIfEmpty(plans, of: did, server: server, now: now)
            }
            let sinks = Set(options.delivery.sinks.map(\.name) + hostSinks)
            for account in try await store.deliveries.accounts() {
                _ = try await store.deliveries.retainSinks(sinks, of: account, now: now)
            }
            // Deletes notifications that can no longer be read.
            try await store.feed.trim(keep: options.delivery.feedKeep ?? 0)
            if let did = active.did {
                _ = try await store.outbox.evict(
                    options.outbox.eviction,
                    of: did,
                    server: server,
                    maxUndelivered: options.outbox.maxUndelivered,
                    now: now
                )
            }
            // Before the first scrape, which would take zeros for a reset.
            metrics.publish(totals: try await store.status.ledgerTotals())
            return installation
        } catch {
            throw AgentError.database(error)
        }
    }

    /// Stores the configuration of digests and callbacks, and queues the event that reports a change to callbacks.
    func storeDigests(of account: DID?) async throws(AgentError) {
        if store.reads { return }
        do throws(StoreError) {
            // Texts armed for removed digests must not be shown.
            try await store.digests.retain(Set(parts.digests.map(\.name)))
            // Old events must not be sent to callbacks that are configured again later.
            try await store.events.retain(CallbackKind.allCases.filter { options.callbacks.receiver(of: $0) != nil })
            let json = DigestFactory.json(options.digests)
            let now = environment.time.now
            let event = callbackWriter.draft(.configUpdated, account: account, config: json, now: now)
            let dropped = try await store.digests.storeConfiguration(json, telling: event, now: now)
            if let event, let dropped {
                environment.metrics.callbacks.count([event], dropped: dropped, environment.logger)
            }
        } catch {
            throw AgentError(.failed, error.description)
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
