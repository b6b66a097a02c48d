import Foundation
import StarwatchCore
import StarwatchTelemetry

@testable import Starwatch

/// Holds lines against the catalogue of events.
enum LogSchema {
    /// Violations of a line; empty if it is valid.
    static func problems(of line: String) -> [String] {
        guard line.hasSuffix("\n"), line.filter({ $0 == "\n" }).count == 1 else { return ["is not one line"] }
        guard let object = try? JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any] else {
            return ["is not a JSON object"]
        }
        var problems: [String] = []
        if (object["timestamp"] as? String)?.wholeMatch(of: /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/) == nil {
            problems.append("has no timestamp in the form of RFC 3339")
        }
        let metadata = object["metadata"] as? [String: Any] ?? [:]
        if object["metadata"] != nil, metadata.isEmpty { problems.append("has metadata that are no fields") }
        if metadata["logger"] != nil { return problems }
        guard let event = AgentEvent.allCases.first(where: { $0.name == object["event"] as? String }) else {
            return problems + ["has an event that is not in the catalogue"]
        }
        if object["level"] as? String != LogSeverity(event.level).text {
            problems.append("is not at its event's level")
        }
        let isSummary = object["suppressed"] != nil
        if isSummary, (object["suppressed"] as? Int ?? 0) < 1 { problems.append("says that nothing was suppressed") }
        if isSummary, !event.mayFold { problems.append("folds what must not be folded") }

        var fields = object.merging(metadata) { outer, _ in outer }
        for name in ["timestamp", "level", "event", "metadata", "suppressed"] { fields[name] = nil }
        for (name, value) in fields {
            guard let field = LogField(rawValue: name), (event.fields + event.optionalFields).contains(field) else {
                problems.append("has a field \(name), which is not the event's")
                continue
            }
            if !matches(value, field.kind) { problems.append("has a \(name) that is no \(field.kind.rawValue)") }
            if isTopLevel(field) != (object[name] != nil) { problems.append("has \(name) in the wrong place") }
        }
        for field in event.fields where !isSummary && fields[field.rawValue] == nil {
            problems.append("lacks \(field.rawValue)")
        }
        return problems
    }

    /// The event of a line that is one of the agent's own.
    static func event(of line: String) -> AgentEvent? {
        let name = line.firstMatch(of: /"event":"([^"]+)"/)?.1
        return AgentEvent.allCases.first { $0.name == name.map(String.init) }
    }

    private static func isTopLevel(_ field: LogField) -> Bool {
        switch field {
        case .changeCount, .count, .durationMilliseconds, .error, .identity, .projectCount, .requestID, .rowCount,
            .runID:
            true
        default: false
        }
    }

    private static func matches(_ value: Any, _ kind: LogField.Kind) -> Bool {
        switch kind {
        case .count: value is Int && !(value is String)
        case .network: (value as? String)?.wholeMatch(of: /[0-9a-f.:]+(\/[0-9]+)?/) != nil
        case .milliseconds: value is Double || value is Int
        case .time: (value as? String).flatMap { Timestamp(iso8601: $0) } != nil
        case .word: matches(value, /[a-z0-9_]+/)
        case .name: matches(value, /[a-z][a-z0-9_-]*/)
        case .text: (value as? String)?.isEmpty == false
        case .requestID: matches(value, /[A-Za-z0-9_-]{1,64}/)
        case .runID: matches(value, /run_[0-9a-f]{16}/)
        case .notificationID: matches(value, /ntf_[0-9a-f]{32}/)
        case .pseudonym: matches(value, /did:hash:[0-9a-f]{16}/)
        case .address: matches(value, /.+:\d+/)
        }
    }

    private static func matches(_ value: Any, _ form: Regex<Substring>) -> Bool {
        (value as? String)?.wholeMatch(of: form) != nil
    }
}
