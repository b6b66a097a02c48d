public import StarwatchCore
import StarwatchTransport

extension Agent {
    package func clearServerWait() async throws(ControlError) -> ServerWaitReport {
        try await counted(.serverClearWait) {
            await process.gates.followClock()
            return ServerWaitReport(waitedUntil: try await runtime.account.gate.clearWait(now: time.now)?.iso8601)
        }
    }

    /// Runs one cycle of a poll now, whatever its schedule says. ``run(supervisor:)`` delivers and acknowledges.
    ///
    /// Cancelling the task cancels the cycle. Stored changes stay.
    ///
    /// - Returns: The cycle's outcome; `nil` if it was skipped or the poll does not exist.
    public func poll(_ name: PollName) async -> PollOutcome? {
        guard let poll = polls.first(where: { $0.name == name }) else { return nil }
        return await runtime.pollService.pass(poll, runID: RandomID.runID()).outcome
    }
}
