public import StarwatchCore
import StarwatchTransport

extension Agent {
    /// Runs one cycle of a poll now, whatever its schedule says. Delivery and acknowledgement are left to ``run(supervisor:)``.
    ///
    /// Cancelling the task gives the cycle up; what it has stored stays.
    ///
    /// - Returns: How the cycle ended; `nil` when it was skipped, or when there is no poll of that name.
    public func poll(_ name: PollName) async -> PollOutcome? {
        guard let poll = polls.first(where: { $0.name == name }) else { return nil }
        return await runtime.pollService.pass(poll, runID: RandomID.runID()).outcome
    }
}
