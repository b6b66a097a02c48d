import ServiceLifecycle
import StarwatchCore
import StarwatchPolling
import StarwatchStore

/// The parts of a process for many accounts: the accounts at work, their verbs, and the loop of the visits.
final class Fleet: Sendable {
    let residents: ResidentAccounts<AccountRuntime>
    let accounts: AccountsControl
    let service: FleetService<AccountRuntime>

    /// - Parameter base: The runtime of nobody, with what all accounts share.
    init(_ base: AccountRuntime) {
        let (process, options) = (base.process, base.options)
        let residents = ResidentAccounts {
            AccountRuntime(of: $0, in: base.process)
        } left: { [gate = base.account.gate, time = process.environment.time] account, _ in
            await gate.rest(account, now: time.now)
        }
        self.residents = residents
        let server = VisitedServer(gate: base.account.gate, options: options)
        service = FleetService(
            environment: process.environment,
            server: server,
            progress: process.progress,
            options: options,
            executor: base.pollService.executor,
            residents: residents
        )
        accounts = AccountsControl(
            environment: process.environment,
            pseudonym: process.pseudonym,
            gate: base.account.gate,
            server: server,
            polls: base.polls,
            sharing: process.sharing,
            sinks: options.delivery.sinks,
            addressedSinks: process.sinks.allSatisfy(\.isOfAccounts) ? process.sinks.map(\.name) : [],
            endWork: { account in
                guard let runtime = residents.runtime(of: account) else { return }
                runtime.account.identity.invalidate()
                await runtime.abort()
            },
            wake: service.wake,
            requestsPerSecond: options.fleet.requestsPerSecond
        )
    }
}

extension AccountRuntime: VisitedAccount {
    var noticesStaleness: Bool { options.delivery.noticesStaleness(forMany: true) }
}
