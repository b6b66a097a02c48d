import Crypto
import Dispatch
import Glibc
package import StarwatchCore

/// The options for opening a store.
package struct StoreOptions: Sendable {
    /// The database file. Created with mode 0600 if `owner` is `.agent`.
    package var path: String
    package var owner: StoreOwner = .agent
    /// Whether to open the database beside the agent that has it open: without a lock, a check or a write.
    package var reads = false
    /// The master key of an encrypted database. A new database is encrypted if there is one. `nil` for a database that is
    /// not encrypted.
    package var masterKey: MasterKey?
    /// Returns the 32 bytes of a new key. By default from the system's random generator.
    package var newKey: @Sendable () -> [UInt8] = { SymmetricKey(size: .bits256).withUnsafeBytes { Array($0) } }
    /// The time for the records of new keys.
    package var now: @Sendable () -> Timestamp = { Timestamp(seconds: Int64(time(nil))) }
    /// Whether most pages are checked later, by ``StoreStatus/checkPages()``. Otherwise all are checked before the database is used,
    /// unless it was closed in good order.
    package var checksLater = false
    /// The number of pages that are all checked before the database is used, even if ``checksLater`` is set. By default
    /// 16 MiB, which takes less than 0.1 s.
    package var pagesCheckedAtOnce = 4096
    /// The longest wait for another process's write lock, in whole milliseconds.
    package var busyTimeout: Duration = .seconds(5)
    /// The time of an access after which scrapers and people no longer wait for the store.
    package var patience: Duration = .seconds(1)
    /// The largest size in SQLite pages of 4 KiB. Beyond it writes fail with ``StoreError/full``. `nil` means no limit.
    package var maxPages: Int?
    /// Retention of the copies from before upgrades; zero makes none.
    package var keepBeforeUpgrade: Duration = .days(7)
    /// The polls that are configured. Only their rows are evicted, because only these are fetched again.
    package var polls: Set<PollName> = []
    /// The configured polls of each kind. Opting out of a kind suppresses the rows of its polls, and unstarring a plan those
    /// of polls that name the starred plans.
    package var pollsOfKind: [PollKind: Set<PollName>] = [:]
    /// The configured polls that do not run, so that they announce nothing in another's place.
    package var disabledPolls: Set<PollName> = []
    /// The polls of kind `starred_projects`. `settings` mirrors their watermark.
    package var starredPolls: Set<PollName> {
        get { pollsOfKind[.starredProjects] ?? [] }
        set { pollsOfKind[.starredProjects] = newValue }
    }
    /// Whether the requests of a poll name the starred plans.
    func namesStars(_ poll: PollName) -> Bool { pollsOfKind.contains { $0.key.needsStars && $0.value.contains(poll) } }
    /// The sinks with `required: false`. Rows do not wait for them.
    package var optionalSinks: Set<String> = []
    package var observer: (any StoreObserver)?
    /// The queue on which the store runs; `nil` creates one.
    package var queue: (any StoreQueue)?
    /// Called on the store's queue at the moments of every access. The access fails with the error that it throws.
    /// Simulations use it to inject disk errors.
    package var interrupt: (@Sendable (StoreOperation, StoreMoment) throws(StoreError) -> Void)?
    /// Whether writes for an account whose lease was lost are refused. Simulations switch it off, to see that they notice.
    package var fencesWrites = true
    /// Whether the work of each transaction is done once in vain before, to show that a transaction has no other effect. Tests
    /// switch it on.
    package var rehearses = false

    package init(path: String) { self.path = path }
}

/// Learns what happens in a store. It is called on the store's queue and must not block.
package protocol StoreObserver: Sendable {
    /// A transaction is committed.
    func ended(_ operation: StoreOperation, after duration: Duration)
    /// A transaction failed. Called before the error is thrown.
    func failed(_ kind: StoreErrorKind)
    /// A committed transaction changed outbox rows, with the number of each change.
    func changed(_ rows: [OutboxChange: Int])
    /// The end of an unchanged cycle could not be stored.
    func missedCycle(_ error: StoreError)
}

extension StoreObserver {
    package func ended(_ operation: StoreOperation, after duration: Duration) {}
    package func failed(_ kind: StoreErrorKind) {}
    package func changed(_ rows: [OutboxChange: Int]) {}
    package func missedCycle(_ error: StoreError) {}
}

/// The serial executor on which a store runs.
package protocol StoreQueue: SerialExecutor {
    /// Runs `work` after all earlier work.
    func run(_ work: @escaping @Sendable () -> Void)

    /// Runs `work` after `delay`.
    func run(after delay: Duration, _ work: @escaping @Sendable () -> Void)
}

/// The store's serial queue. It keeps blocking SQLite calls off the cooperative threads.
final class StoreExecutor: StoreQueue {
    private let queue = DispatchQueue(label: "starwatch.store")

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
    }

    func run(_ work: @escaping @Sendable () -> Void) { queue.async(execute: work) }

    func run(after delay: Duration, _ work: @escaping @Sendable () -> Void) {
        queue.asyncAfter(deadline: .now() + delay.inSeconds, execute: work)
    }

    func checkIsolated() { dispatchPrecondition(condition: .onQueue(queue)) }
}
