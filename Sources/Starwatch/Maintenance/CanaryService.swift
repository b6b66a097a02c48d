import Logging
import StarwatchCore
import StarwatchPolling
import StarwatchStore
import StarwatchTelemetry
import StarwatchTransport
import Synchronization

/// Sends a synthetic change through the outbox, the dispatcher and the sinks that are marked for it, and notes when it has
/// arrived at all of them. So silence is proof: an alert fires if it does not arrive.
///
/// A new one is stored only when the one before has arrived or failed, so an outage of a sink leaves one behind.
final class CanaryService: Worker {
    /// Result of one pass.
    struct Pass: WorkerPass {
        var next: Timestamp?
    }

    static let storeUser = StoreUser.canary
    static let storeFailed = AgentEvent.canaryStoreFailed

    let memory: CanaryMemory
    let account: Account
    let passes = PassRunner()

    init(_ memory: CanaryMemory, account: Account) { (self.memory, self.account) = (memory, account) }

    private var every: Duration { memory.options.every }
    var now: Timestamp { clock.now }

    func work(_ pass: inout Pass) async throws(StoreError) {
        let identity = try await account.identity.current().identity
        guard let did = identity.did else { return }
        let stream = account.stream(.canary, of: did)
        let state = try await store.outbox.canary(of: stream)
        note(state.lastArrival)
        guard !state.isUnderway else { return }
        let now = now
        if let last = state.lastSent, now >= last, now < last + every {
            pass.next = last + every
            return
        }
        pass.next = try await send(stream, identity.generation, now) ? now + every : now + .seconds(5)
    }

    /// Stores a canary as a page of a poll would.
    ///
    /// - Returns: `false` if the identity or the dialect has just changed.
    private func send(_ stream: StreamKey, _ generation: Int, _ now: Timestamp) async throws(StoreError) -> Bool {
        // Another kind than the server's would be refused. After a restart the gate learns it from the store with its first request.
        var dialect = account.gate.known.dialect
        if dialect == nil { dialect = try await store.servers.state(account.server).dialect }
        let id = JWTID.floor((dialect ?? account.api.assumedDialect).idKind, at: now)
        let commit = PageCommit(
            stream: stream,
            expectedGeneration: generation,
            runID: RandomID.runID(),
            changes: [FetchedChange(Change(id: id, plan: PollName.canary.rawValue, name: nil))],
            room: 1,
            now: now
        )
        guard try await store.outbox.commit(page: commit) != nil else {
            // A change of identity refuses one. Anything else must not look like a canary that does not arrive.
            if memory.refusals.add(1, ordering: .relaxed).newValue > 1 {
                let sentence = "A canary was not stored, because the database has another identity or dialect."
                logger.log(.canaryStoreFailed, [.error: "\(sentence)"])
            }
            return false
        }
        memory.refusals.store(0, ordering: .relaxed)
        metrics.canary.canaries[.sent].increment()
        wakes.dispatch.raise()
        return true
    }

    private func note(_ last: Timestamp?) {
        guard let last else { return }
        let former = memory.arrival.withLock { known in
            defer { known = last }
            return known
        }
        if former != last { metrics.canary.lastArrival.set(clock.local(last).seconds) }
        // An arrival that an earlier process has seen counts nothing.
        if former != last, former != nil || clock.local(last) >= memory.startedAt {
            metrics.canary.canaries[.arrived].increment()
        }
    }
}

/// The synthetic changes since the start of the process, in whichever visit they were sent.
final class CanaryMemory: Sendable {
    let options: CanaryOptions
    /// Start by the local clock. A canary that never arrived is measured from here.
    fileprivate let startedAt: Timestamp
    /// The creation of the last canary that has arrived, by the server's clock.
    fileprivate let arrival = Mutex<Timestamp?>(nil)
    /// The number of canaries in a row that were not stored.
    fileprivate let refusals = Atomic(0)

    init(_ options: CanaryOptions, startedAt: Timestamp) { (self.options, self.startedAt) = (options, startedAt) }

    /// The facts about its age, by the local clock.
    func facts(in environment: Environment) -> HealthFacts.Canary {
        let last = arrival.withLock { $0 }.map { min(environment.clock.local($0), environment.time.now) }
        return HealthFacts.Canary(every: options.every, lastArrival: last, startedAt: startedAt)
    }
}
