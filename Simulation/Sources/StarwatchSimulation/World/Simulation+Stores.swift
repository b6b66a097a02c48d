import StarwatchCore
import StarwatchPolling

/// The events of several processes that share the accounts.
extension Simulation {
    /// Stops a process, so that the others can take over its accounts. When it goes on, it must write nothing for those.
    func stopProcess() async {
        guard let process = state.value.process else { return }
        let (first, length) = (
            Duration.seconds(faults.number(.processStop, 1...20)),
            Duration.seconds(faults.number(.processStop, 2...100))
        )
        // Its visits wait for the server meanwhile, and find the answers or broken connections afterwards.
        let breaks = faults.number(.processStop, 0...1) == 0
        network.stall(process, for: first + length, thenBreak: breaks)
        server.publish(faults.number(.processStop, 1...3), of: settings.plans)
        await process.died.wait(for: first, on: clock)
        guard !process.isDead else { return }
        trace.note("process \(process.number) stops")
        process.stop(for: length)
        try? await clock.sleep(for: length)
        // The others stop, so that what is written is written by this one.
        let others = state.value.running.values.map(\.process).filter { $0.number != process.number && !$0.isDead }
            .sorted { $0.number < $1.number }
        let pause = Duration.seconds(faults.number(.processStop, 1...5))
        for other in others { other.stop(for: pause) }
        let owners = network.leases?.owners(of: Set(others.map(\.number))) ?? []
        let rows = network.leases?.database.map { LeasedRows(in: $0, of: owners, until: clock.now + pause) }
        trace.note("process \(process.number) goes on, \(rows?.count ?? 0) accounts are taken over")
        process.resume()
        try? await clock.sleep(for: pause)
        if !process.isDead, let row = rows?.changed() {
            violations.record(.fenced, "\(row) was written for an account that was taken over")
        }
        for other in others { other.resume() }
    }

    /// Cuts a process off from the database for a while.
    func cutOff() async {
        guard let process = state.value.process else { return }
        network.stall(process, for: .seconds(faults.number(.partition, 1...20)))
        server.publish(faults.number(.partition, 1...3), of: settings.plans)
        process.partition(true)
        await process.died.wait(for: .seconds(faults.number(.partition, 2...100)), on: clock)
        process.partition(false)
    }
}
