import Logging
import StarwatchCore

extension FailureReason {
    /// The reason as fields of a log event.
    var fields: AgentEvent.Fields {
        var fields: AgentEvent.Fields = [.reason: "\(word)"]
        let detail = detail.description
        if !detail.isEmpty { fields[.serverError] = "\(detail)" }
        return fields
    }
}
