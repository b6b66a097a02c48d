package import StarwatchCore
package import StarwatchTelemetry

/// A configured poll, ready to run.
package struct Poll: Sendable {
    package let options: PollOptions
    /// The poll's name as a label value.
    package let label: ConfiguredName
    package let schedule: Schedule
    /// This instance's fixed delay after the scheduled time.
    package let splay: Duration
    /// The polls that can have the same claims; the poll itself is among them.
    package let overlapping: [PollName]

    package var name: PollName { options.name }
    package var kind: PollKind { options.kind }
}
