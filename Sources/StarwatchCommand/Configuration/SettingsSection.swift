import StarwatchCore
import Yams

/// One mapping of the file. Reads its settings one by one; what is wrong goes into the journal, and the target stays.
struct SettingsSection {
    struct Entry {
        let key: String
        let line: Int?
        let value: Node
    }

    let path: String
    /// The line of the section's own key.
    let line: Int?
    let entries: [Entry]
    /// Written as `{}`: not left out, but empty.
    let isExplicitlyEmpty: Bool
    /// Whether something else than a mapping stands here; that has been reported.
    let isMisplaced: Bool
    let journal: ConfigurationJournal

    /// A section from its node: a mapping, or nothing at all, which leaves every default.
    init(_ node: Node?, path: String, line: Int?, journal: ConfigurationJournal) {
        self.path = path
        self.line = line
        self.journal = journal
        isExplicitlyEmpty = node?.mapping?.isEmpty ?? false
        isMisplaced = node.map { $0.mapping == nil && !$0.isNull } ?? false
        switch node {
        case nil:
            entries = []
        case .mapping(let mapping)?:
            entries = mapping.map { Entry(key: $0.key.string ?? "", line: $0.key.mark?.line, value: $0.value) }
        case .some:
            entries = []
            guard isMisplaced else { break }
            journal.report("must be a section: settings as \"key: value\" below it.", at: path, line: line)
        }
    }

    // MARK: Keys

    /// Reports every key that is not in `known`.
    func allow(_ known: [String]) {
        for entry in entries where !known.contains(entry.key) {
            let tail = Suggestion.tail(for: entry.key, among: known)
            journal.report("there is no such setting\(tail)", at: path(of: entry.key), line: entry.line)
        }
    }

    func path(of key: String) -> String { path.isEmpty ? key : "\(path).\(key)" }

    func entry(_ key: String) -> Entry? { entries.first { $0.key == key } }

    func report(_ message: String, at key: String? = nil) {
        guard let key else { return journal.report(message, at: path, line: line) }
        journal.report(message, at: path(of: key), line: entry(key)?.line ?? line)
    }

    func section(_ key: String) -> SettingsSection {
        let entry = entry(key)
        return SettingsSection(entry?.value, path: path(of: key), line: entry?.line, journal: journal)
    }

    /// Whether the setting is there and not null.
    func has(_ key: String) -> Bool { entry(key).map { !$0.value.isNull } ?? false }

    // MARK: Values

    /// The scalar's text, when the key is there and its value is one; `kind` says what was wanted.
    private func scalar(_ key: String, _ kind: String) -> String? {
        guard let entry = entry(key) else { return nil }
        guard let scalar = entry.value.scalar, !entry.value.isNull else {
            report("must be \(kind); leave the line out for the default.", at: key)
            return nil
        }
        return scalar.string
    }

    private func accept(_ key: String) {
        if let line = entry(key)?.line { journal.note(path(of: key), line: line) }
    }

    /// Text. `check` returns what is wrong with it, or `nil`.
    func text(_ key: String, _ target: inout String, check: (String) -> String? = { _ in nil }) {
        guard let text = scalar(key, "text") else { return }
        if let problem = textProblem(key, text, check: check) { return report(problem, at: key) }
        target = text
        accept(key)
    }

    /// Text or null.
    func optionalText(_ key: String, _ target: inout String?, check: (String) -> String? = { _ in nil }) {
        optional(key, &target, placeholder: "") { text(key, &$0, check: check) }
    }

    /// A value that `read` understands, or null for none; `read` gets the placeholder.
    private func optional<Value>(
        _ key: String,
        _ target: inout Value?,
        placeholder: Value,
        _ read: (inout Value) -> Void
    ) {
        guard let entry = entry(key) else { return }
        if entry.value.isNull {
            target = nil
            return accept(key)
        }
        var value = placeholder
        let problems = journal.problems.count
        read(&value)
        if journal.problems.count == problems { target = value }
    }

    private func textProblem(_ key: String, _ text: String, check: (String) -> String?) -> String? {
        if let entry = entry(key), entry.value.looksLikeAnotherType {
            return "must be text; put it in quotes."
        }
        if text.isEmpty { return "must not be empty." }
        return check(text)
    }

    /// A list of texts, or null for none; `nil` when the key is absent or wrong.
    func list(_ key: String) -> [String]? {
        guard let entry = entry(key) else { return nil }
        if entry.value.isNull {
            accept(key)
            return []
        }
        guard let sequence = entry.value.sequence else {
            report("must be a list, such as [a, b].", at: key)
            return nil
        }
        var texts: [String] = []
        for (index, node) in sequence.enumerated() {
            guard let text = node.scalar?.string, !node.isNull, !node.looksLikeAnotherType, !text.isEmpty else {
                let path = "\(path(of: key))[\(index)]"
                journal.report("must be text; put it in quotes.", at: path, line: node.mark?.line ?? entry.line)
                continue
            }
            texts.append(text)
        }
        guard texts.count == sequence.count else { return nil }
        accept(key)
        return texts
    }

    func isList(_ key: String) -> Bool { entry(key)?.value.sequence != nil }

    func duration(
        _ key: String,
        _ target: inout Duration,
        atLeast least: Duration = .zero,
        atMost most: Duration = .days(3650)
    ) {
        guard let text = scalar(key, "a duration such as 30s") else { return }
        do throws(UnitTextError) {
            let value = try DurationText.parse(text)
            guard value >= least else { return report("must be at least \(DurationText.format(least)).", at: key) }
            guard value <= most else { return report("must be at most \(DurationText.format(most)).", at: key) }
            target = value
            accept(key)
        } catch {
            report(error.description, at: key)
        }
    }

    /// A duration or null.
    func optionalDuration(
        _ key: String,
        _ target: inout Duration?,
        atLeast least: Duration,
        atMost most: Duration = .days(3650)
    ) {
        optional(key, &target, placeholder: .zero) { duration(key, &$0, atLeast: least, atMost: most) }
    }

    func size(_ key: String, _ target: inout Int, in range: ClosedRange<Int>) {
        guard let text = scalar(key, "a size such as 10MiB") else { return }
        do throws(UnitTextError) {
            let value = try ByteSizeText.parse(text)
            guard range.contains(value) else {
                let (low, high) = (ByteSizeText.format(range.lowerBound), ByteSizeText.format(range.upperBound))
                return report("must be between \(low) and \(high).", at: key)
            }
            target = value
            accept(key)
        } catch {
            report(error.description, at: key)
        }
    }

    func integer(_ key: String, _ target: inout Int, in range: ClosedRange<Int>) {
        guard let text = scalar(key, "a whole number") else { return }
        guard let value = Int(text), entry(key)?.value.isPlain == true else {
            return report("must be a whole number.", at: key)
        }
        guard range.contains(value) else {
            return report("must be between \(range.lowerBound) and \(range.upperBound).", at: key)
        }
        target = value
        accept(key)
    }

    func optionalInteger(_ key: String, _ target: inout Int?, in range: ClosedRange<Int>) {
        optional(key, &target, placeholder: range.lowerBound) { integer(key, &$0, in: range) }
    }

    func fraction(_ key: String, _ target: inout Double) {
        guard let text = scalar(key, "a number between 0 and 1") else { return }
        guard let value = Double(text), entry(key)?.value.isPlain == true, (0...1).contains(value) else {
            return report("must be a number between 0 and 1.", at: key)
        }
        target = value
        accept(key)
    }

    func flag(_ key: String, _ target: inout Bool) {
        guard let text = scalar(key, "true or false") else { return }
        guard let value = Bool(text.lowercased()), entry(key)?.value.isPlain == true else {
            return report("must be true or false.", at: key)
        }
        target = value
        accept(key)
    }

    func choice<Value: CaseIterable & RawRepresentable<String>>(_ key: String, _ target: inout Value) {
        let allowed = Value.allCases.map(\.rawValue)
        guard let text = scalar(key, "one of \(allowed.joined(separator: ", "))") else { return }
        guard let value = Value(rawValue: text) else {
            let tail = Suggestion.tail(for: text, among: allowed)
            return report("must be one of \(allowed.joined(separator: ", "))\(tail)", at: key)
        }
        target = value
        accept(key)
    }
}

extension Node {
    /// An unquoted scalar, whose look decides its type.
    var isPlain: Bool { scalar.map { $0.style == .plain || $0.style == .any } ?? false }

    var isNull: Bool {
        guard isPlain, let text = scalar?.string else { return false }
        return ["", "~", "null", "Null", "NULL"].contains(text)
    }

    /// An unquoted number or truth value, where text was wanted: `no` is the classic.
    var looksLikeAnotherType: Bool {
        guard isPlain, let text = scalar?.string else { return false }
        return Double(text) != nil || ["true", "false", "yes", "no", "on", "off"].contains(text.lowercased())
    }
}

extension Duration {
    static func days(_ count: Int) -> Duration { .seconds(count * 86_400) }
}
