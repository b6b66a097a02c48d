import StarwatchCore
import StarwatchPolling

/// The events of several processes that share the accounts.
extension Simulation {
    /// Stops a process, so that the others can take over its accounts. When it goes on, it must neither write nor send for
    /// those.
    func stopProcess() async {
        guard let process = state.value.process, let leases = network.leases else { return }
        let length = Duration.seconds(faults.number(.processStop, 2...100))
        network.stall(process, for: .seconds(3600), withSinks: faults.number(.processStop, 0...1) == 0)
        server.publish(faults.number(.processStop, 1...3), of: settings.plans)
        let first = Duration.seconds(faults.number(.processStop, 1...20))
        await process.died.wait(for: first, on: clock)
        // Otherwise it mostly has no account: visits are short.
        for _ in 0..<60 where leases.epochs(of: process.number).isEmpty && !process.isDead {
            await process.died.wait(for: .seconds(1), on: clock)
        }
        // Its visits wait meanwhile: for an answer, or for the next attempt after a connection that broke just before.
        if faults.number(.processStop, 0...1) == 0 {
            network.endStall(process)
            await process.died.wait(for: .milliseconds(faults.number(.processStop, 250...900)), on: clock)
        } else {
            network.stall(process, for: length)
        }
        guard !process.isDead else { return network.stall(process, for: .zero) }
        let held = leases.epochs(of: process.number)
        trace.note("process \(process.number) stops with \(held.count) accounts")
        process.stop(for: length)
        try? await clock.sleep(for: length)
        await goOn(process, after: held)
    }

    /// Lets a stopped process go on while the others stop, so that what is written is written by this one.
    ///
    /// - Parameter held: The epochs of the leases that it had.
    private func goOn(_ process: SimulatedProcess, after held: [String: Int]) async {
        guard let leases = network.leases, let database = leases.database else { return process.resume() }
        let others = others(than: process.number)
        let pause = Duration.seconds(faults.number(.processStop, 1...5))
        for other in others { other.stop(for: pause) }
        // The others have mostly released them again. A lease that ends in the meantime can be claimed anew.
        let epochs = leases.epochs()
        let taken = Set(held.filter { epochs[$0.key] != $0.value }.keys)
        let rows = LeasedRows(in: database, of: taken)
        trace.note("process \(process.number) goes on, \(rows.count) accounts were taken over")
        process.resume()
        try? await clock.sleep(for: pause)
        // If it has claimed them itself since, it can write.
        let claimed = Set(leases.epochs().filter { epochs[$0.key] != $0.value }.keys)
        if !process.isDead, let row = rows.changed(except: claimed) {
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
