package import StarwatchCore
import StarwatchPolling
package import StarwatchTelemetry

/// A configured poll, ready to run.
package struct Poll: Sendable {
    package let options: PollOptions
    /// The poll's name as a label value.
    package let label: ConfiguredName
    package let schedule: Schedule
    /// Maximum time without a success.
    package let staleAfter: Duration
    /// The fixed delay after the scheduled time, of this installation or of one of many accounts.
    package var splay: Duration
    /// The longest time between two runs.
    package let longestGap: Duration
    /// The polls that can have the same claims; the poll itself is among them.
    package let overlapping: [PollName]

    package var name: PollName { options.name }
    package var kind: PollKind { options.kind }
}

extension [Poll] {
    /// Returns the configured poll of that name. Removed polls can have rows too, but a mistyped name must be an error.
    func named(_ name: String) throws(ControlError) -> Poll {
        if let poll = first(where: { $0.name.rawValue == name }) { return poll }
        throw ControlError(.notFound, "There is no poll of that name; starwatch status lists them.")
    }
}

extension Schedule {
    /// The schedule of a configured poll.
    ///
    /// - Throws: ``AgentError`` of kind `configuration`.
    init(of poll: PollOptions) throws(AgentError) {
        do throws(PollTimingError) { self = try Schedule(poll.timing) } catch {
            let problem =
                switch error {
                case .zone(let error): "timezone \(error)"
                case .cron(let error): "schedule: \(error)"
                }
            throw AgentError(.configuration, "polls.\(poll.name).\(problem)")
        }
    }
}
