package import Logging

/// A logged event, with its fields in output order. Sinks read only those that need no redaction.
package struct LogEntry: Sendable {
    /// Unix time in milliseconds.
    package var timestampMilliseconds: Int64
    package var severity: LogSeverity
    /// A fixed name, such as `poll_finished`; never an interpolated sentence.
    package var event: String
    var requestID: String?
    package var runID: String?
    /// A pseudonym, `did:hash:…`; never the DID itself.
    var identity: String?
    /// Numbers with a top-level field, such as `change_count`.
    var counts: [(name: String, value: LogValue)]
    var durationMilliseconds: LogValue?
    var error: String?
    var metadata: [(String, LogValue)]
    /// Whether repetitions are folded; `false` for notifications in the log sink, which must all be written.
    var mayFold = true
    /// Whether the black box keeps it: its level is notice or higher, and the event is not excluded.
    var isNotable: Bool

    package init(
        timestampMilliseconds: Int64,
        severity: LogSeverity,
        event: String,
        runID: String? = nil,
        counts: [(name: String, value: LogValue)] = [],
        error: String? = nil,
        metadata: [(String, LogValue)] = []
    ) {
        (self.timestampMilliseconds, self.severity, self.event) = (timestampMilliseconds, severity, event)
        (self.runID, self.counts, self.error, self.metadata) = (runID, counts, error, metadata)
        isNotable = severity == .warn || severity == .error
    }

    /// Whether a metadata key is a count and gets a top-level field: `count`, `suppressed` and keys that end in
    /// `_count`.
    static func isCount(_ key: String) -> Bool {
        key == "count" || key == "suppressed" || key.hasSuffix("_count")
    }

    /// The set fields after the timestamp, in output order.
    private var fields: [(String, LogValue)] {
        var fields: [(String, LogValue)] = [("level", .string(severity.text)), ("event", .string(event))]
        if let requestID { fields.append(("request_id", .string(requestID))) }
        if let runID { fields.append(("run_id", .string(runID))) }
        if let identity { fields.append(("identity", .string(identity))) }
        fields += counts.map { ($0.name, $0.value) }
        if let durationMilliseconds { fields.append(("duration_ms", durationMilliseconds)) }
        if let error { fields.append(("error", .string(error))) }
        return fields
    }

    /// The entry as one line of JSON with a line feed, not redacted.
    func jsonLine() -> [UInt8] {
        var line: [UInt8] = []
        line.reserveCapacity(256)
        line.append(text: #"{"timestamp":""#)
        line.append(time: timestampMilliseconds)
        line.append(UInt8(ascii: "\""))
        for (name, value) in fields {
            line.append(UInt8(ascii: ","))
            line.append(jsonString: name)
            line.append(UInt8(ascii: ":"))
            line.append(json: value)
        }
        if !metadata.isEmpty {
            line.append(text: #","metadata":"#)
            line.append(json: .object(metadata))
        }
        line.append(text: "}\n")
        return line
    }

    /// The entry as one line of text with a line feed, not redacted: `time LEVEL event name=value …`.
    ///
    /// The fields that differ most come first, identifiers last. Level and event are padded, so that fields align.
    func textLine() -> [UInt8] {
        var line: [UInt8] = []
        line.reserveCapacity(256)
        line.append(time: timestampMilliseconds)
        line.append(text: " \(severity.text)")
        line.pad(to: Self.eventColumn)
        line.append(plain: event)
        line.pad(to: Self.fieldColumn)
        var fields = metadata + counts.map { ($0.name, $0.value) }
        if let durationMilliseconds { fields.append(("duration_ms", durationMilliseconds)) }
        let texts = [("error", error), ("identity", identity), ("run_id", runID), ("request_id", requestID)]
        for (name, text) in texts { if let text { fields.append((name, .string(text))) } }
        for (name, value) in fields {
            line.append(UInt8(ascii: " "))
            line.append(plain: name)
            line.append(UInt8(ascii: "="))
            if case .string(let text) = value { line.append(plain: text) } else { line.append(json: value) }
        }
        while line.last == UInt8(ascii: " ") { line.removeLast() }
        line.append(UInt8(ascii: "\n"))
        return line
    }

    /// The column after the time and a space.
    static let levelColumn = 25
    static let eventColumn = levelColumn + 6
    /// The column after the longest event name.
    private static let fieldColumn = eventColumn + 24

    /// The key that repetitions share; `nil` for an entry that must not be folded.
    ///
    /// For warnings and errors it is level, event, error and ``subject``. For debug and info it is everything except
    /// the time, the duration, and the identifiers of run and request.
    var foldKey: [UInt8]? {
        guard mayFold else { return nil }
        var key: [UInt8] = []
        key.append(json: .array([.string(severity.rawValue), .string(event), .string(error ?? "")]))
        if severity == .debug || severity == .info {
            key.append(json: .string(identity ?? ""))
            key.append(json: .object(counts.map { ($0.name, $0.value) }))
            key.append(json: .object(metadata))
        } else {
            key.append(json: .object(subject))
        }
        return key
    }

    /// Removes the numbers, which differ between entries that say the same.
    mutating func dropNumbers() {
        counts = []
        metadata.removeAll { if case .integer = $0.1 { true } else if case .double = $0.1 { true } else { false } }
    }

    /// The metadata that name the affected part: the same failure of another sink is another failure.
    var subject: [(String, LogValue)] { metadata.filter { Self.subjects.contains($0.0) } }

    static func isSubject(_ key: String) -> Bool { subjects.contains(key) }

    /// Whether a field says how something ended, in a word of a closed set. A long value is no such word; without that
    /// limit a remembered summary could be longer than its key.
    static func isDetail(_ field: (String, LogValue)) -> Bool {
        guard details.contains(field.0), case .string(let word) = field.1 else { return false }
        return word.utf8.count <= 64
    }

    /// Removes the details that another entry does not have, too. Debug and info entries with the same key have all.
    mutating func keepDetails(of other: LogEntry) {
        guard severity == .warn || severity == .error else { return }
        metadata.removeAll { field in
            guard Self.isDetail(field), !Self.isSubject(field.0), case .string(let word) = field.1 else { return false }
            return !other.metadata.contains { key, value in
                if key == field.0, case .string(word) = value { true } else { false }
            }
        }
    }

    private static let details = ["client", "endpoint", "kind", "outcome", "reason", "result"]

    private static let subjects = ["logger", "path", "poll", "problem", "sink"]
}

extension [UInt8] {
    /// Appends a text without quotes if it is one word, else as a JSON string.
    fileprivate mutating func append(plain text: String) {
        // 0xC2 can begin a control character from U+0080 to U+009F.
        let isPlain =
            !text.isEmpty
            && text.utf8.allSatisfy { byte in
                byte > 0x20 && byte != 0x22 && byte != 0x3D && byte != 0x5C && byte != 0x7F && byte != 0xC2
            }
        if isPlain { append(text: text) } else { append(jsonString: text) }
    }

    /// Appends spaces up to a column.
    fileprivate mutating func pad(to column: Int) { while count < column { append(UInt8(ascii: " ")) } }
}

/// The four levels of a line, and the values of the `level` label.
package enum LogSeverity: String, MetricLabel {
    case debug
    case info
    case warn
    case error

    /// Converts a level of swift-log: `trace` becomes debug, `notice` info, and `critical` error.
    package init(_ level: Logger.Level) {
        switch level {
        case .trace, .debug: self = .debug
        case .info, .notice: self = .info
        case .warning: self = .warn
        case .error, .critical: self = .error
        }
    }

    /// The level in a line: `DEBUG`, `INFO`, `WARN` or `ERROR`.
    package var text: String { rawValue.uppercased() }
}

extension [UInt8] {
    /// Appends Unix milliseconds as RFC 3339 in UTC: `2026-01-01T12:00:00.000Z`. Years outside 0 to 9999 are clamped.
    ///
    /// `gmtime_r` would count the leap seconds of a zone such as `TZ=right/UTC`, which Unix time does not have.
    mutating func append(time milliseconds: Int64) {
        let clamped = Swift.min(Swift.max(milliseconds, -62_167_219_200_000), 253_402_300_799_999)
        let (days, inDay) = Self.floorDivide(clamped, 86_400_000)
        let date = Self.civil(daysSinceEpoch: days)
        let parts: [(value: Int64, scale: Int64, end: Unicode.Scalar)] = [
            (date.year, 1000, "-"), (date.month, 10, "-"), (date.day, 10, "T"), (inDay / 3_600_000, 10, ":"),
            (inDay / 60_000 % 60, 10, ":"), (inDay / 1000 % 60, 10, "."), (inDay % 1000, 100, "Z"),
        ]
        for part in parts {
            var scale = part.scale
            while scale > 0 {
                append(0x30 + UInt8(part.value / scale % 10))
                scale /= 10
            }
            append(UInt8(ascii: part.end))
        }
    }

    /// Converts days to a civil date. Internally years begin in March, so that the leap day is the last of its year.
    private static func civil(daysSinceEpoch: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let (era, dayOfEra) = floorDivide(daysSinceEpoch + 719_468, 146_097)
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shifted = (5 * dayOfYear + 2) / 153
        let month = shifted < 10 ? shifted + 3 : shifted - 9
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * shifted + 2) / 5 + 1)
    }

    private static func floorDivide(_ value: Int64, _ divisor: Int64) -> (Int64, Int64) {
        let (quotient, remainder) = value.quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
    }
}
