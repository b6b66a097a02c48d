import Logging
import StarwatchCore
import StarwatchPolling
import StarwatchStore
import StarwatchTelemetry

/// The opening of the agent's database.
enum AgentDatabase {
    static func open(
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
    static func check(_ store: Store, for options: AgentOptions, time: any TimeSource) async throws(AgentError) -> DID?
    {
        let account: DID?
        do throws(StoreError) {
            try await store.status.probe(writes: true)
            account = try await store.identity.active().did
        } catch {
            throw AgentError(.failed, error.description)
        }
        let id = await store.keys.masterKeyID
        let source = MasterKeySource(options: options.security, time: time)
        guard try await source.read(for: id)?.id == id else {
            throw AgentError(.failed, "The database does not open with the master key of the new configuration.")
        }
        return account
    }
}

/// The database of a host application that owns it (``StorageOptions/Owner/host``).
///
/// The agent never migrates such a database. Its owner runs ``statements(from:)`` to create or update it.
public enum HostDatabase {
    /// The values of `PRAGMA user_version` that this version of the library supports. Other versions are rejected, and
    /// nothing is written.
    public static var versions: ClosedRange<Int> { Schema.supported }

    /// The SQL that brings a database to the newest version, in one transaction.
    ///
    /// - Parameter version: The present `user_version`; 0 for a database without these tables.
    /// - Returns: The SQL; empty if there is nothing to do, `nil` for an unknown version.
    public static func statements(from version: Int = 0) -> String? { Schema.statements(from: version) }

    /// Encrypts Starwatch's values in a database that has been used without a key, with the key of
    /// ``AgentOptions/security``. No agent may run. The host's own tables stay as they are.
    ///
    /// The file is rewritten (`VACUUM`), which can change the `rowid` of tables without an `INTEGER PRIMARY KEY`. A database
    /// without data of an account needs no call: the agent's first start with a key encrypts it.
    ///
    /// - Throws: ``AgentError`` with the reason.
    public static func encrypt(_ options: AgentOptions) async throws(AgentError) {
        _ = try await DatabaseEncryption.encrypt(options, by: "agent")
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
