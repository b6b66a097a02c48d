import Logging
import StarwatchCore
import StarwatchTelemetry

extension PollCycle {
    /// Logs the result of the cycle.
    func log(_ result: Result, outcome: PollOutcome, duration: Duration, of account: DID, projects: Int) {
        let event: AgentEvent
        switch outcome {
        case .failed: event = .pollFailed
        case .cancelled: event = .pollCancelled
        case .deferred: event = .pollDeferred
        case .changed: event = .pollChanged
        case .bootstrapped: event = .pollBootstrapped
        case .unchanged: event = .pollUnchanged
        }
        note(
            event,
            [
                .outcome: "\(outcome.rawValue)", .changeCount: .number(result.new),
                .durationMilliseconds: .number(duration.wholeMilliseconds), .identity: "\(account.rawValue)",
                .projectCount: .number(projects),
            ]
            .merging(result.reason.map { [.error: "\($0)"] } ?? [:]) { $1 }
            .merging(result.cause?.fields ?? [:]) { $1 }
        )
    }

    /// Logs an event of this cycle.
    func note(_ event: AgentEvent, _ fields: @autoclosure () -> AgentEvent.Fields = [:]) {
        logger.log(
            event,
            fields().merging([.runID: "\(runID)", .poll: "\(poll.name.rawValue)"]) { $1 }
                .merging(event.carriesRequest ? AgentEvent.fields(of: lastRequest) : [:]) { $1 }
        )
    }
}

extension AgentEvent {
    /// Whether the event is about the last request of its cycle.
    fileprivate var carriesRequest: Bool { optionalFields.contains(.requestID) }
}
