package import Logging

/// An attribute of a metadata value: `sensitive` values are always redacted.
package enum LogSensitivity: Int64, Logger.MetadataValueAttributes.Attribute, Sendable {
    case sensitive = 1
    case `public` = 2
}

extension Logger.MetadataValue {
    /// A value written as a JSON number.
    package static func number(_ value: some BinaryInteger & Sendable) -> Self {
        .stringConvertible(Int64(clamping: value))
    }

    /// A value written as a JSON number.
    package static func number(_ value: Double) -> Self { .stringConvertible(value) }

    /// A value written as `[REDACTED:token]`.
    package static func sensitive(_ text: String) -> Self {
        .attributed(text, attributes: [LogSensitivity.sensitive])
    }
}

/// A swift-log handler that creates a ``LogEntry`` for the pipeline.
///
/// The message is the event. The keys `request_id`, `run_id`, `identity`, `duration_ms`, `error`, `count` and those
/// that end in `_count` become top-level fields. `fold` with the value `never` prevents folding. All other keys are
/// sorted under `metadata`.
package struct RedactingLogHandler: LogHandler {
    package var metadata: Logger.Metadata = [:]
    package var metadataProvider: Logger.MetadataProvider?

    private let label: String
    private let pipeline: LogPipeline
    private var ownLevel: Logger.Level?

    init(label: String, pipeline: LogPipeline, metadataProvider: Logger.MetadataProvider?) {
        (self.label, self.pipeline, self.metadataProvider) = (label, pipeline, metadataProvider)
    }

    /// The logger's own level, by default the pipeline's.
    package var logLevel: Logger.Level {
        get { ownLevel ?? pipeline.level }
        set { ownLevel = newValue }
    }

    package subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    package func log(event: LogEvent) {
        var all = metadata
        if let provided = metadataProvider?.get() { all.merge(provided) { _, new in new } }
        if let own = event.metadata { all.merge(own) { _, new in new } }
        if let error = event.error, all["error"] == nil { all["error"] = .string(String(describing: error)) }
        var entry = LogEntry(
            timestampMilliseconds: pipeline.now(),
            severity: LogSeverity(event.level),
            event: "\(event.message)"
        )
        entry.isNotable = event.level >= .notice
        if label != "starwatch" { entry.metadata.append(("logger", .string(label))) }
        for (key, value) in all.sorted(by: { $0.key < $1.key }) {
            put(convert(value, key: key), under: key, into: &entry)
        }
        pipeline.log(entry)
    }

    private func put(_ value: LogValue, under key: String, into entry: inout LogEntry) {
        switch (key, value) {
        case ("request_id", .string(let text)): entry.requestID = text
        case ("run_id", .string(let text)): entry.runID = text
        case ("identity", .string(let text)): entry.identity = pipeline.pseudonym(of: text)
        case ("error", .string(let text)): entry.error = text
        case ("fold", .string("never")): entry.mayFold = false
        case ("black_box", .string("never")): entry.isNotable = false
        default:
            if key == "duration_ms", let number = value.number {
                entry.durationMilliseconds = number
            } else if LogEntry.isCount(key), let number = value.number {
                entry.counts.append((name: key, value: number))
            } else {
                entry.metadata.append((key, value))
            }
        }
    }

    private func convert(_ value: Logger.MetadataValue, key: String) -> LogValue {
        if value.attributes[LogSensitivity.self] == .sensitive || RedactionScanner.kind(ofField: key) == .token {
            return .string(RedactionKind.token.replacement)
        }
        switch value {
        case .string(let text):
            return text.isEmpty || RedactionScanner.kind(ofField: key) != .did ? .string(text) : identity(text)
        case .stringConvertible(let convertible): return convert(convertible, key: key)
        case .array(let values): return .array(values.map { convert($0, key: key) })
        case .dictionary(let fields):
            return .object(fields.sorted { $0.key < $1.key }.map { ($0.key, convert($0.value, key: $0.key)) })
        }
    }

    private func convert(_ value: any CustomStringConvertible & Sendable, key: String) -> LogValue {
        switch value {
        case let flag as Bool: .bool(flag)
        case let integer as any BinaryInteger: .integer(Int64(clamping: integer))
        case let double as Double: .double(double)
        case let float as Float: .double(Double(float))
        default: convert(.string(value.description), key: key)
        }
    }

    private func identity(_ did: String) -> LogValue { .string(pipeline.pseudonym(of: did)) }
}
