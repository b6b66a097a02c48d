package import Logging
package import StarwatchCore

/// An event that the agent can log. Each is a static value with everything about it.
///
/// Libraries log through other handlers, whose lines have `metadata.logger`.
package struct AgentEvent: Sendable, Hashable {
    /// The line's `event`.
    package let name: String
    /// Level of the event. It never varies.
    package let level: Logger.Level
    /// Fields that the event always has.
    package let fields: [LogField]
    /// Fields that the event has if they are known.
    package let optionalFields: [LogField]
    /// A Boolean value that tells whether repetitions are folded. Events that an operator waits for are always written.
    package let mayFold: Bool
    /// A Boolean value that tells whether the black box keeps it, if its level is notice or higher. `false` for events that
    /// others can cause in any number: they would push out every other line, and each would wait for the disk.
    package let isBoxed: Bool
    /// Description of the event, with advice for the operator if there is something to do.
    package let meaning: @Sendable () -> String

    init(
        _ name: String,
        _ level: Logger.Level,
        _ fields: [LogField] = [],
        optional: [LogField] = [],
        folds: Bool = true,
        boxed: Bool = true,
        meaning: @escaping @Sendable () -> String
    ) {
        (self.name, self.level, self.fields, self.meaning) = (name, level, fields, meaning)
        (optionalFields, mayFold, isBoxed) = (optional, folds, boxed)
    }

    package static func == (left: AgentEvent, right: AgentEvent) -> Bool { left.name == right.name }

    package func hash(into hasher: inout Hasher) { hasher.combine(name) }
}

extension Logger {
    /// Logs an event at its level. The fields are evaluated only if the level is logged.
    package func log(_ event: AgentEvent, _ fields: @autoclosure () -> AgentEvent.Fields = [:]) {
        log(level: event.level, "\(event.name)", metadata: event.metadata(fields()))
    }
}

extension AgentEvent {
    package typealias Fields = [LogField: Logger.MetadataValue]

    /// The fields of a request's identifiers. A server that repeats the agent's identifier adds nothing.
    package static func fields(of trace: RequestTrace?) -> Fields {
        guard let trace else { return [:] }
        var fields: Fields = [.requestID: "\(trace.id)"]
        if let id = trace.serverID, id != trace.id { fields[.serverRequestID] = "\(id)" }
        return fields
    }

    fileprivate func metadata(_ fields: Fields) -> Logger.Metadata {
        var metadata = Logger.Metadata(minimumCapacity: fields.count + 1)
        for (field, value) in fields { metadata[field.rawValue] = value }
        if !mayFold { metadata["fold"] = "never" }
        if !isBoxed { metadata["black_box"] = "never" }
        return metadata
    }
}

extension FailureReason {
    /// The reason as fields of a log event.
    var fields: AgentEvent.Fields {
        var fields: AgentEvent.Fields = [.reason: "\(word)"]
        let detail = detail.description
        if !detail.isEmpty { fields[.serverError] = "\(detail)" }
        return fields
    }
}
