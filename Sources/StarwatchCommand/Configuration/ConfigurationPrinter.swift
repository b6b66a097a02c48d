import Starwatch
import StarwatchCore

/// The printing of options as YAML by ``ConfigurationTable``, each value with a note.
///
/// The notes of the effective configuration are origins, `file:12` or `default`, and values that identify or
/// authenticate a person are withheld: `<did>`, `<plan>`, `<secret>`. The notes of the defaults are the comments.
struct ConfigurationPrinter {
    /// `true` for the defaults, and for the reference.
    let isDefault: Bool
    /// `true` for the reference, which lists every setting, also of parts that the defaults do not have.
    var isReference = false
    /// `true` for values that are only compared, so that secrets are among them.
    private var isComparison = false
    /// Whether values are written as they are.
    var revealsSecrets: Bool { isDefault || isComparison }
    private(set) var rows: [ConfigurationReference.Row] = []
    private let origins: [String: Int]
    private var lines: [(text: String, note: String)] = []
    /// The path of the section, which ends with a dot.
    private var path = ""
    private var margin = ""
    private var startsItem = false

    /// The effective configuration.
    static func yaml(_ configuration: LoadedConfiguration) -> String {
        let printer = effective(configuration)
        return "# The effective configuration: \(configuration.file) over the defaults.\n"
            + printer.text(width: min(60, printer.lines.map(\.text.count).max() ?? 0))
    }

    /// The effective settings, each with its line.
    static func settings(_ configuration: LoadedConfiguration) -> [EffectiveSetting] {
        effective(configuration).rows.compactMap { row in
            // A section has no value of its own.
            guard let value = row.value, !value.isEmpty else { return nil }
            return EffectiveSetting(path: row.path, value: value, line: configuration.origins[row.path])
        }
    }

    /// Every setting with its value, to compare. Secrets are among them. An item of a list goes by its name:
    /// `delivery.sinks.hook.url`.
    @Sendable static func values(_ options: AgentOptions) -> [String: String] {
        let printer = ConfigurationPrinter(isDefault: false, isComparison: true, origins: [:]).writing(options)
        var values: [String: String] = [:]
        var item: (path: String, name: String)?
        // The name is the first setting of an item.
        for row in printer.rows {
            guard let value = row.value, !value.isEmpty else { continue }
            if row.path.hasSuffix("].name") { item = (String(row.path.dropLast(5)), value) }
            var path = row.path
            if let item, path.hasPrefix(item.path) {
                let list = item.path.prefix { $0 != "[" }
                path = "\(list).\(item.name)\(path.dropFirst(item.path.count))"
            }
            values[path] = value
        }
        return values
    }

    /// The output of `starwatch config default`: every setting with its default and a comment.
    static var defaults: String {
        let printer = ConfigurationPrinter(isDefault: true, origins: [:]).writing(ConfigurationTable.defaults)
        return header + printer.text(width: 31)
    }

    /// The rows of the reference, in the order of the file.
    static var reference: [ConfigurationReference.Row] {
        ConfigurationPrinter(isDefault: true, isReference: true, origins: [:]).writing(ConfigurationTable.defaults)
            .rows
    }

    private static func effective(_ configuration: LoadedConfiguration) -> ConfigurationPrinter {
        ConfigurationPrinter(isDefault: false, origins: configuration.origins).writing(configuration.options)
    }

    private func writing(_ options: AgentOptions) -> ConfigurationPrinter {
        var printer = self
        ConfigurationTable.settings.write(options, to: &printer)
        return printer
    }

    private func text(width: Int) -> String {
        lines.map { text, note in
            if note.isEmpty { return text + "\n" }
            return text + String(repeating: " ", count: max(0, width - text.count)) + "  # \(note)\n"
        }.joined()
    }

    // MARK: Lines

    mutating func value(_ key: String, _ value: String, _ comment: String, isNeeded: Bool = false) {
        if isDefault, path.isEmpty { lines.append(("", "")) }
        rows.append(
            ConfigurationReference.Row(path: path + key, value: isNeeded && isDefault ? nil : value, comment: comment)
        )
        line("\(key): \(value)", isDefault ? comment : origins[path + key].map { "file:\($0)" } ?? "default")
    }

    mutating func section(
        _ key: String,
        _ comment: String = "",
        isEmpty: Bool = false,
        _ write: (inout ConfigurationPrinter) -> Void
    ) {
        if isDefault, path.isEmpty { lines.append(("", "")) }
        if !comment.isEmpty { rows.append(ConfigurationReference.Row(path: path + key, value: "", comment: comment)) }
        if isEmpty { return line("\(key): {}", isDefault ? comment : "default") }
        line("\(key):", isDefault ? comment : "")
        nest(in: key + ".", write)
    }

    /// Writes an item of the list that the section is.
    mutating func item(_ index: Int, _ write: (inout ConfigurationPrinter) -> Void) {
        startsItem = true
        let section = path
        path.removeLast()
        nest(in: "[\(index)].", write)
        path = section
    }

    /// Writes lines of the section that ends here as comments, below `comment`; only among the defaults.
    mutating func example(_ comment: String = "", _ write: (inout ConfigurationPrinter) -> Void) {
        guard isDefault, !isReference else { return }
        if !comment.isEmpty { line("# \(comment)", "") }
        let first = lines.count
        nest(in: "example.", write)
        for index in first..<lines.count {
            lines[index].text = margin + "# " + lines[index].text.dropFirst(margin.count + 2)
        }
    }

    private mutating func nest(in part: String, _ write: (inout ConfigurationPrinter) -> Void) {
        let (path, margin) = (path, margin)
        self.path += part
        self.margin += "  "
        write(&self)
        (self.path, self.margin) = (path, margin)
    }

    private mutating func line(_ text: String, _ note: String) {
        lines.append(((startsItem ? margin.dropLast(2) + "- " : margin) + text, note))
        startsItem = false
    }

    // MARK: Values

    static func list(_ texts: [String]) -> String { "[\(texts.map(scalar).joined(separator: ", "))]" }

    /// Text as a scalar: plain if that cannot be read as anything else, otherwise in double quotes.
    static func scalar(_ text: String) -> String {
        let isWord = text.wholeMatch(of: /[A-Za-z0-9.\/<][A-Za-z0-9._\/:+<>\-]*/) != nil && !text.hasSuffix(":")
        let words = ["true", "false", "yes", "no", "on", "off", "null"]
        if isWord, Double(text) == nil, !words.contains(text.lowercased()) { return text }
        let escaped = text.unicodeScalars.map { scalar in
            switch scalar {
            case "\"", "\\": "\\\(scalar)"
            case _ where scalar.value < 16: "\\x0" + String(scalar.value, radix: 16)
            case _ where scalar.value < 32 || scalar.value == 127: "\\x" + String(scalar.value, radix: 16)
            default: String(scalar)
            }
        }
        return "\"\(escaped.joined())\""
    }

    private static let header = """
        # Starwatch's configuration: every setting with its default. Settings you leave out keep their default; unknown
        # settings are errors. Check the file with 'starwatch check --config FILE'.
        #
        # Durations: 250ms, 30s, 5m, 4h, 7d. Sizes: 64KiB, 10MiB. Relative paths start at this file's directory.
        # Never write keys, tokens or signing secrets here: name a file with mode 0600 (..._file). A file name without a
        # directory is also looked up in $CREDENTIALS_DIRECTORY.

        """
}
