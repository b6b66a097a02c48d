/// The body of a webhook in the user's own form: a JSON document whose texts have fields of the notification, such as
/// `{{title}}`.
///
/// A text that is exactly one field becomes the field's JSON value, `null` if the notification does not have it. In a longer
/// text, a text is inserted as it is, a list or an object as its JSON, and nothing for a missing field. The document is
/// parsed once and each text is quoted anew, so a value never ends the text that it stands in, and is never a template itself.
public struct BodyTemplate: Sendable, Hashable {
    /// A mistake in a template. Its sentence has nothing of the template but the name of a field.
    public struct Mistake: Error, Sendable, Hashable {
        /// The line, from 1; `nil` for the whole template.
        public var line: Int?
        /// One sentence that says what is wrong and what to do.
        public var message: String
        /// The field that no notification has; `nil` for other mistakes.
        public var unknownField: String?
    }

    private enum Piece: Sendable, Hashable {
        case json([UInt8])
        case text(TextTemplate)
    }

    /// The largest template: 64 KiB.
    public static let largestBytes = 65_536
    /// The largest number of fields. Each can stand for all changes of a notification.
    public static let mostFields = 100

    private let pieces: [Piece]
    /// The texts of its values without their fields, which can be secrets.
    package let literals: [String]
    /// The first line of each field.
    package let lines: [String: Int]

    /// Parses a template.
    public init(json: [UInt8]) throws(Mistake) {
        guard json.count <= Self.largestBytes else {
            throw Mistake(message: "is larger than 64KiB; shorten it.")
        }
        // Some editors begin a file with the mark, and no JSON that is sent may have it (RFC 8259, section 8.1).
        let json = json.starts(with: "\u{FEFF}".utf8) ? Array(json.dropFirst("\u{FEFF}".utf8.count)) : json
        var (pieces, lines, count, end): ([Piece], [String: Int], Int, Int) = ([], [:], 0, 0)
        var literals: [String] = []
        for found in try Self.texts(of: json) {
            let template = TextTemplate(found.text)
            if !found.isName { literals += template.literals }
            guard !template.variables.isEmpty || template.hasOpenVariable else { continue }
            let line = Self.line(of: found.range.lowerBound, in: json)
            if let mistake = Self.mistake(in: template, isName: found.isName, line) { throw mistake }
            for field in template.variables where lines[field] == nil { lines[field] = line }
            count += template.variables.count
            pieces += [.json(Array(json[end..<found.range.lowerBound])), .text(template)]
            end = found.range.upperBound
        }
        guard count <= Self.mostFields else {
            throw Mistake(message: "has \(count) fields; use at most \(Self.mostFields).")
        }
        (self.pieces, self.lines, self.literals) = (pieces + [.json(Array(json[end...]))], lines, literals)
    }

    /// Fills the template.
    ///
    /// - Parameter payload: The JSON of a notification.
    package func render(_ payload: [UInt8]) -> [UInt8] {
        let fields = JSONTree(json: payload)
        return pieces.reduce(into: [UInt8]()) { body, piece in
            switch piece {
            case .json(let bytes): body += bytes
            case .text(let template):
                if let field = template.onlyVariable {
                    body += StableJSON.bytes(of: fields?[field] ?? .null)
                } else {
                    let filled = template.render { name in
                        fields?[name].map { $0.scalar ?? StableJSON.text(of: $0) } ?? ""
                    }
                    body += StableJSON.bytes(of: filled.text)
                }
            }
        }
    }

    // MARK: Mistakes

    private static func texts(of json: [UInt8]) throws(Mistake) -> [JSONTextScanner.Found] {
        do throws(JSONTextScanner.Failure) {
            return try JSONTextScanner.texts(of: json)
        } catch {
            // The end of the last line belongs to that line.
            let last = json.lastIndex { !JSONTextScanner.isBlank($0) } ?? 0
            let line = Self.line(of: min(error.offset, last), in: json)
            let isField =
                json[..<error.offset].last == UInt8(ascii: "{") && json[error.offset...].first == UInt8(ascii: "{")
            throw Mistake(
                line: line,
                message: isField
                    ? "has a field without quotes; write \"{{count}}\", which becomes a number by itself."
                    : "is not JSON; check the commas, quotes and brackets of this line and the one before."
            )
        }
    }

    private static func line(of offset: Int, in json: [UInt8]) -> Int {
        json[..<offset].count { $0 == UInt8(ascii: "\n") } + 1
    }

    private static func mistake(in template: TextTemplate, isName: Bool, _ line: Int) -> Mistake? {
        if isName {
            return Mistake(line: line, message: "has a field in the name of a member; only values can have fields.")
        }
        if template.hasOpenVariable { return Mistake(line: line, message: "has {{ without }}; end the field with }}.") }
        guard let unknown = template.variables.first(where: { !isField($0) }) else { return nil }
        // Anything else could be a secret in braces.
        let isShown = unknown.utf8.count <= 40 && unknown.utf8.allSatisfy { $0 >= 0x20 && $0 < 0x7f }
        let message =
            "has the unknown field \(isShown ? "{{\(unknown)}}" : "in {{ }}"); use one such as {{title}} or {{changes.0.name}}."
        return Mistake(line: line, message: message, unknownField: isShown ? unknown : nil)
    }

    // MARK: Fields

    /// Whether it tells a notification that takes another one back from the others.
    package var tellsOfWithdrawals: Bool { lines[NotificationMessage.CodingKeys.cleared.rawValue] != nil }

    /// The field that only a sink with `include_account` gets.
    package static let accountDID = "account_did"

    /// The names of fields: those of notifications and digests.
    package static let names: [String] = Set(
        NotificationMessage.CodingKeys.allCases.map(\.rawValue) + DigestMessage.CodingKeys.allCases.map(\.rawValue)
            + [accountDID]
    )
    .sorted()

    /// Whether a notification can have the field: one of ``names``, a label such as `action_labels.dismiss`, or a part of a
    /// change such as `changes.0.name` or, of an item of a list, `changes.0.values.author`.
    private static func isField(_ path: String) -> Bool {
        let steps = path.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        guard steps.count > 1 else { return names.contains(path) }
        switch steps[0] {
        case "action_labels": return steps.count == 2 && NotificationAction(rawValue: steps[1]) != nil
        case "changes":
            let isListed = (0..<NotificationMessage.listedChanges).contains { "\($0)" == steps[1] }
            guard isListed, steps.count > 2 else { return isListed }
            let key = NotificationMessage.Item.CodingKeys(rawValue: steps[2])
            return steps.count == 3 ? key != nil : steps.count == 4 && key == .values && !steps[3].isEmpty
        default: return false
        }
    }
}
