import Logging
import ServiceLifecycle
import StarwatchCore
import StarwatchPolling
import StarwatchStore
import StarwatchTelemetry
import StarwatchTransport
import Synchronization

/// The worker of a process that serves many accounts: it claims those whose work is due, visits each, and releases it until its
/// next work.
///
/// An account that rests has no task here, and no memory but the time of its digests. When the service must stop, it claims
/// nothing more, cancels the requests in flight, delivers what is stored, and releases each account.
final class FleetService: Service {
    /// The largest number of accounts of a claim, and of ends that wait for the next one.
    private static let batch = 100
    /// The longest time for which an end waits, if the next claim does not come.
    private static let longestDelay = Duration.seconds(1)
    /// The shortest time between two claims, so that each takes the accounts of this time together.
    private static let shortestRest = Duration.milliseconds(100)
    /// The longest time until an account is visited again, whatever its schedules.
    private static let longestRest = Duration.seconds(3600)

    /// The largest number of visits that deliver. Few poll at a time; more deliver, so that receivers that hang keep no poll
    /// waiting. Each needs up to 100 KB of memory.
    private static let delivering = 1024

    private let process: AgentProcess
    private let server: VisitedServer
    /// The accounts at work.
    let residents: ResidentAccounts<AccountRuntime>
    /// Raised when an account can have become due.
    private let wake: Signal
    /// The process, until its end. A start is never mistaken for an earlier one.
    private let owner = RandomID.uuid()
    private let stopping = Atomic(false)
    /// The visits that have ended and are not stored yet, and the time since which they wait.
    private let ended = Mutex<(ends: [LeaseEnd], since: Duration)>(([], .zero))
    /// The work that visits leave to the next ones; most leave none but the time of their digests.
    let memories = Mutex<[DID: Visit.Memory]>([:])
    /// The time of the last claim on both clocks.
    private let lastClaim = Mutex<(now: Timestamp, boottime: Duration)?>(nil)
    /// The time until which the loop rests; `nil` while it works.
    private let restsUntil = Mutex<Timestamp?>(nil)

    init(_ process: AgentProcess) {
        let (gate, options) = (process.gate, process.options)
        let (server, wake) = (VisitedServer(gate: gate, options: options), Signal())
        let residents = ResidentAccounts {
            AccountRuntime(of: $0, in: process)
        } left: { [store = process.store] account, runtime in
            await runtime.account.api.leave(isEnd: true)
            store.accounts.rest(account)
        }
        (self.process, self.server, self.wake, self.residents) = (process, server, wake, residents)
    }

    /// The verbs of accounts.
    var accounts: AccountsControl {
        AccountsControl(
            environment: environment,
            pseudonym: process.pseudonym,
            gate: process.gate,
            server: server,
            polls: process.polls,
            sharing: process.sharing,
            sinks: process.options.delivery.sinks,
            addressedSinks: process.sinks.allSatisfy(\.isOfAccounts) ? process.sinks.map(\.name) : [],
            endWork: { account in
                self.memories.withLock { $0[account] = nil }
                guard let runtime = self.residents.runtime(of: account) else { return }
                runtime.account.identity.invalidate()
                await runtime.abort()
            },
            wake: wake,
            requestsPerSecond: process.options.fleet.requestsPerSecond
        )
    }

    private var environment: Environment { process.environment }
    private var store: Store { environment.store }
    private var time: any TimeSource { environment.time }
    private var metrics: FleetMetrics { environment.metrics.fleet }

    func run() async throws {
        let stopped = Promise<Void>()
        async let renewal: Void = renew(until: stopped)
        await withGracefulShutdownHandler {
            await visitAccounts()
        } onGracefulShutdown: {
            self.stopping.store(true, ordering: .relaxed)
            self.wake.raise()
            for runtime in self.residents.runtimes { runtime.wakes.visit.raise() }
        }
        stopped.fulfil(())
        await renewal
    }

    private var isEnding: Bool { stopping.load(ordering: .relaxed) || Task.isCancelled }

    private func visitAccounts() async {
        let polling = ConcurrencyLimit(process.options.limits.maxConcurrentPolls)
        let all = ConcurrencyLimit(process.options.limits.maxConcurrentPolls + Self.delivering)
        await withDiscardingTaskGroup { group in
            while !isEnding {
                mark()
                let leases = await claim()
                for lease in leases {
                    guard await enter(all, polling) else {
                        await release(lease, Visit.End(), at: lease.dueAt)
                        continue
                    }
                    mark()
                    group.addTask(executorPreference: process.client.http.executor) {
                        await self.visit(lease) { polling.release() }
                        all.release()
                    }
                }
                if leases.isEmpty { await rest() }
            }
        }
        await storeEnds()
    }

    /// Waits for the places of a visit. It gives up its place among those that poll before it delivers.
    ///
    /// - Returns: `false` if the service ends. No place is then taken.
    private func enter(_ all: ConcurrencyLimit, _ polling: ConcurrencyLimit) async -> Bool {
        guard await all.acquire() else { return false }
        if await polling.acquire() {
            if !isEnding { return true }
            polling.release()
        }
        all.release()
        return false
    }

    /// Shows the health check that the schedules are looked at.
    private func mark() {
        let now = time.monotonic
        for poll in process.polls { process.progress.mark(.poll(poll.name), at: now) }
    }

    /// The last cycles of all accounts, of a poll.
    func lastCycle(of poll: Poll) -> CycleTimes { process.lastCycles[poll] }

    func claim() async -> [AccountLease] {
        // Before any wait, so that it does not outlast the lease.
        let (now, term) = (time.now, LeaseTerm(from: time.boottime))
        do throws(StoreError) {
            try await followClock(now)
            try await server.look(now: now)
            let (leases, lost) = try await store.accounts.claim(
                server.work,
                limit: server.limit(Self.batch),
                owner: owner,
                now: now,
                until: now + LeaseTerm.length,
                for: term,
                maxUndelivered: process.options.outbox.maxUndelivered,
                after: takeEnds()
            )
            server.claimed(leases)
            for lease in leases {
                metrics.claims[lease.wasReleased ? .released : .expired].increment()
            }
            noteLost(lost)
            store.health.ended(.accounts, failed: false)
            return leases
        } catch {
            environment.logger.log(.fleetStoreFailed, [.error: "\(error.description)"])
            store.health.ended(.accounts, failed: true)
            try? await time.sleep(for: ExtraRun.afterStoreFailure)
            return []
        }
    }

    /// Moves the times of all accounts with a local clock that was set back. Otherwise they would rest for as long. After one that
    /// was set ahead, they are due, and their schedules decide.
    private func followClock(_ now: Timestamp) async throws(StoreError) {
        let boottime = time.boottime
        // Taken at once, so that a claim and a renewal do not move the times twice.
        let former = lastClaim.withLock { last in
            defer { last = (now, boottime) }
            return last
        }
        let step = former.map { (now - $0.now) - (boottime - $0.boottime) }
        let isOther = step.map { $0 < .seconds(-1) } ?? true
        do throws(StoreError) {
            if let step, isOther {
                // Their times are those of the clock before.
                await storeEnds()
                try await store.accounts.moveDue(by: step)
            }
            // The clock of an earlier run can have been ahead, and digests can come before the accounts' times.
            if isOther {
                let rest = now + Self.longestRest + LeaseTerm.length
                let digest = process.parts.digests.compactMap { $0.firstWork(after: now, until: rest) }.min() ?? rest
                try await store.accounts.settleDue(latest: max(digest, now + LeaseTerm.length), now: now)
            }
        } catch {
            lastClaim.withLock { $0 = former }
            throw error
        }
    }

    /// Waits until an account is due.
    private func rest() async {
        let now = time.now
        var until = now + ClockLook.wait(from: now)
        // Before the database is read, so that an account that is released meanwhile wakes the loop.
        restsUntil.withLock { $0 = until }
        await storeEnds()
        if let end = server.waitsUntil { until = min(until, end) }
        if let next = try? await store.accounts.nextDue(server.work) {
            until = min(until, max(next, now + Self.shortestRest))
        }
        restsUntil.withLock { $0 = until }
        await wake.wait(for: until - now, on: time)
        restsUntil.withLock { $0 = nil }
    }

    /// - Parameter hasPolled: Called once, when the polls have ended, before the delivery.
    func visit(_ lease: AccountLease, hasPolled: @escaping @Sendable () -> Void = {}) async {
        let began = time.monotonic
        // An account that waits for the server is not late.
        metrics.lag.observe(max(time.now - server.due(since: lease.dueAt, now: time.now), .zero))
        let memory = memories.withLock { $0.removeValue(forKey: lease.account) ?? [:] }
        let end = await residents.with(lease.account) { visited in
            await Visit(of: visited, lease, memory: memory) {
                self.permission(of: lease)
            } hasPolled: {
                self.notePolls(of: lease)
                hasPolled()
            }.run()
        }
        if !end.memory.isEmpty { memories.withLock { $0[lease.account] = end.memory } }
        let latest = time.now + Self.longestRest
        await release(lease, end, at: min(end.next ?? latest, latest))
        metrics.visits.observe(time.monotonic - began)
        // Also of a visit that could not be made.
        notePolls(of: lease)
    }

    /// Lets the other accounts be claimed if the visit has probed the server.
    private func notePolls(of lease: AccountLease) { if server.hasPolled(lease.account) { wake.raise() } }

    private func permission(of lease: AccountLease) -> Visit.Permission {
        if stopping.load(ordering: .relaxed) { return .stop }
        return store.accounts.holds(lease, at: time.boottime) ? .all : .noPolls
    }

    /// Releases an account, together with others unless the loop rests.
    private func release(_ lease: AccountLease, _ end: Visit.End, at next: Timestamp) async {
        let now = time.monotonic
        let isDue = ended.withLock { ended in
            if ended.ends.isEmpty { ended.since = now }
            ended.ends.append(LeaseEnd(lease, next: next, asked: end.asked))
            // Slow visits can keep the next claim waiting, and these accounts would be late.
            return ended.ends.count >= Self.batch || now - ended.since > Self.longestDelay
        }
        let rest = restsUntil.withLock { $0 }
        // The next claim stores it otherwise.
        if isDue || rest.map({ $0 - time.now > Self.longestDelay }) ?? false { await storeEnds() }
        if let rest, next < rest { wake.raise() }
    }

    /// Returns the ends of visits that are not stored yet, for the caller to store.
    private func takeEnds() -> [LeaseEnd] {
        ended.withLock { ended in
            defer { ended.ends = [] }
            return ended.ends
        }
    }

    /// Stores the ends of visits.
    private func storeEnds() async {
        let ends = takeEnds()
        guard !ends.isEmpty else { return }
        do throws(StoreError) {
            noteLost(try await store.accounts.release(ends))
        } catch {
            // The leases end by themselves.
            environment.logger.log(.fleetStoreFailed, [.error: "\(error.description)"])
        }
    }

    /// Counts the leases that were lost before their visits ended. Their accounts can be gone.
    private func noteLost(_ leases: [AccountLease]) {
        metrics.lost.increment(by: UInt64(leases.count))
        memories.withLock { memories in for lease in leases { memories[lease.account] = nil } }
    }

    // MARK: - Leases

    /// Renews the leases until the last visit has ended.
    private func renew(until stopped: Promise<Void>) async {
        while !Task.isCancelled {
            let isOver = await time.run(within: LeaseTerm.length / 3, late: false) {
                await stopped.value() != nil
            }
            guard isOver == false else { return }
            await renewLeases()
        }
    }

    func renewLeases() async {
        try? await followClock(time.now)
        let (until, term) = (time.now + LeaseTerm.length, LeaseTerm(from: time.boottime))
        guard let lost = try? await store.accounts.renew(until: until, for: term) else { return }
        for lease in lost {
            metrics.lost.increment()
            await residents.runtime(of: lease.account)?.abort()
        }
    }
}
