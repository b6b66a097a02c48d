import Yams

/// A key of the file with its value; a section if the value is a mapping.
struct SettingsField {
    let key: String
    let path: String
    let line: Int?
    /// `nil` if the file does not have the key.
    let node: Node?
    let journal: ConfigurationJournal

    init(_ key: String, in section: String, line: Int?, node: Node?, journal: ConfigurationJournal) {
        let separator = section.isEmpty || key.hasPrefix("[") ? "" : "."
        (self.key, path, self.line, self.node, self.journal) = (key, section + separator + key, line, node, journal)
    }

    /// `true` for an absent key too.
    var isNull: Bool {
        node.map { $0.isPlain && ["", "~", "null", "Null", "NULL"].contains($0.scalar?.string) } ?? true
    }

    /// `true` for a single value that is not null.
    var isWord: Bool { node?.scalar != nil && !isNull }

    // MARK: Values

    /// The scalar's text; `nil` after reporting another value, with `expected` as the value that is wanted.
    func scalar(_ expected: String) -> String? {
        if let first = node?.mapping?.first?.key, first.mapping != nil {
            return reject("begins with {{, which YAML reads as a mapping; put the value in quotes.")
        }
        return (isNull ? nil : node?.scalar?.string)
            ?? reject("must be \(expected); leave the line out for the default.")
    }

    /// The text of a scalar that is neither null nor empty.
    var text: String? { isNull ? nil : node?.scalar.flatMap { $0.string.isEmpty ? nil : $0.string } }

    /// `true` for an unquoted number or truth value where text is wanted, such as `no`.
    var looksLikeAnotherType: Bool {
        guard node?.isPlain == true, let text else { return false }
        return Double(text) != nil || ["true", "false", "yes", "no", "on", "off"].contains(text.lowercased())
    }

    /// The items of a list; `nil` if the value is none.
    var items: [SettingsField]? {
        node?.sequence?.enumerated().map { index, item in
            SettingsField("[\(index)]", in: path, line: item.mark?.line ?? line, node: item, journal: journal)
        }
    }

    // MARK: Sections

    /// The section; `nil` after reporting another value. An absent section is empty.
    var section: SettingsField? {
        if isNull || node?.mapping != nil { return self }
        if let text = node?.scalar?.string, let problem = YAMLMistake.pairProblem(text) {
            journal.report(problem, at: path, line: node?.mark?.line ?? line)
            return nil
        }
        return reject("must be a section: settings as \"key: value\" below it.")
    }

    /// `true` for `{}`, which differs from a section that is left out.
    var isEmptySection: Bool { node?.mapping?.isEmpty == true }

    var fields: [SettingsField] {
        guard let mapping = node?.mapping else { return [] }
        return mapping.map { key, value in
            SettingsField(key.string ?? "", in: path, line: key.mark?.line, node: value, journal: journal)
        }
    }

    /// The field of a key; one without a node if the section does not have it.
    func field(_ key: String) -> SettingsField {
        fields.first { $0.key == key } ?? SettingsField(key, in: path, line: line, node: nil, journal: journal)
    }

    /// Returns `true` if the setting is there and not null.
    func has(_ key: String) -> Bool { !field(key).isNull }

    // MARK: Problems

    func report(_ message: String, at key: String? = nil) {
        let place = key.map(field) ?? self
        journal.report(message, at: place.path, line: place.line)
    }

    /// Reports a problem in place of a value.
    func reject<Value>(_ message: String) -> Value? {
        report(typographic ?? message)
        return nil
    }

    /// The problem of a rejected value with characters that look like others; `nil` for plain ones.
    private var typographic: String? {
        guard node?.isPlain == true, let text else { return nil }
        if let first = text.first, "“”„‘’«»".contains(first) {
            return "is in typographic quotes; write straight ones: \"…\"."
        }
        if text.unicodeScalars.contains(where: YAMLMistake.isStrangeSpace) {
            return "has a no-break space or another invisible character; type it again with plain spaces."
        }
        return "–—−".contains(text.first ?? " ") ? "begins with a dash that is no hyphen; type it again." : nil
    }

    /// An item of a list is far from the sections, and a web configuration has others.
    private var isFarFromSections: Bool { path.contains("[") || path.contains(".") || journal.isWeb }

    /// Reports every key that is not in `known`.
    ///
    /// - Parameter reason: The sentence about a key that is known elsewhere; `nil` for another one.
    func allow(_ known: [String], reason: (String) -> String? = { _ in nil }) {
        for field in fields where !known.contains(field.key) {
            field.report(
                reason(field.key)
                    ?? Self.problem(ofUnknown: field.key, among: known, isItem: isFarFromSections)
            )
        }
    }

    /// Reports more parts than there can be.
    func limit(_ count: Int) {
        let maximum = ConfigurationTable.maximumParts
        if count > maximum { report("must name at most \(maximum) \(key); found \(count).") }
    }
}

extension Node {
    /// `true` for an unquoted scalar, whose text decides its type.
    var isPlain: Bool { scalar.map { $0.style == .plain || $0.style == .any } ?? false }
}
