import StarwatchCore

extension ControlRequest {
    /// The most numbers of a list that are written.
    private static let longestList = 20
    /// The fields whose texts are words or names of the configuration.
    private static let plainFields: Set<String> = ["kind", "operation", "poll", "state"]

    /// The object of the action in the journal, without personal data; `nil` for a request without an object.
    ///
    /// Names, numbers and switches are kept. Of every other text, which can be an account, a project or a key, only that it
    /// was given.
    var journalTarget: String? {
        var parts = arguments.map { Self.word($0) }
        parts += query.map { "\($0.name)=\(Self.word($0.value))" }
        if case .object(let body) = JSONTree(json: body) {
            parts += body.sorted { $0.key < $1.key }.map {
                "\($0.key)=\(Self.text($0.value, isPlain: Self.plainFields.contains($0.key)))"
            }
        }
        return parts.isEmpty ? nil : parts.joined(separator: " ")
    }

    /// A name of the configuration, a number or the id of a notification; anything else is only mentioned.
    private static func word(_ text: String) -> String {
        let isPlain =
            (1...64).contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in
                switch byte {
                case 0x30...0x39, 0x61...0x7A, 0x2D, 0x5F: true
                default: false
                }
            }
        return isPlain ? text : "…"
    }

    private static func text(_ value: JSONTree, isPlain: Bool) -> String {
        switch value {
        case .null: return "none"
        case .flag(let flag): return "\(flag)"
        case .number(let number): return "\(number)"
        case .text(let text): return isPlain ? word(text) : "…"
        case .decimal, .object: return "…"
        case .list(let values):
            let numbers = values.compactMap { if case .number(let number) = $0 { number } else { nil } }
            guard numbers.count == values.count, !numbers.isEmpty else { return "(\(values.count))" }
            let rest = numbers.count - longestList
            return numbers.prefix(longestList).map(String.init).joined(separator: ",")
                + (rest > 0 ? " and \(rest) more" : "")
        }
    }
}
