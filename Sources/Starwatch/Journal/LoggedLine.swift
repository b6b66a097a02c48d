import StarwatchCore

/// A log line, taken apart for a person. A line in the text format stays as it is after its level and event.
package struct LoggedLine: Sendable, Hashable {
    package var level: String
    package var event: String
    /// The fields in their order: name and value.
    package var fields: [Field]

    package struct Field: Sendable, Hashable {
        package var name: String
        package var value: String
    }

    package init(_ line: String) {
        if line.hasPrefix("{"), case .object(let object) = JSONTree(json: Array(line.utf8)) {
            level = Self.text(object["level"]) ?? ""
            event = Self.text(object["event"]) ?? ""
            var all = object
            if case .object(let metadata) = object["metadata"] { all.merge(metadata) { own, _ in own } }
            for name in ["timestamp", "level", "event", "metadata"] { all[name] = nil }
            fields = all.sorted { $0.key < $1.key }.map { Field(name: $0.key, value: Self.text($0.value) ?? "") }
        } else {
            let words = line.split(separator: " ", maxSplits: 3, omittingEmptySubsequences: true).map(String.init)
            level = words.count > 1 ? words[1] : ""
            event = words.count > 2 ? words[2] : line
            fields = []
            if words.count > 3 { fields = Self.fields(words[3]) }
        }
    }

    package subscript(_ name: String) -> String? { fields.first { $0.name == name }?.value }

    /// The poll, sink or port that it is about; `nil` for the whole agent.
    package var subject: String? { self["poll"] ?? self["sink"] ?? self["port"] }

    private static func text(_ value: JSONTree?) -> String? { value.map { $0 == .null ? "…" : $0.scalar ?? "…" } }

    /// The fields of a line in the text format.
    private static func fields(_ text: String) -> [Field] {
        var fields: [Field] = []
        var rest = Substring(text.drop { $0 == " " })
        while let equals = rest.firstIndex(of: "=") {
            let name = String(rest[..<equals])
            rest = rest[rest.index(after: equals)...]
            var value = ""
            if rest.first == "\"" {
                rest.removeFirst()
                while let character = rest.first, character != "\"" {
                    rest.removeFirst()
                    if character == "\\", let next = rest.first {
                        value.append(next)
                        rest.removeFirst()
                    } else {
                        value.append(character)
                    }
                }
                rest = rest.dropFirst()
            } else {
                value = String(rest.prefix { $0 != " " })
                rest = rest.dropFirst(value.count)
            }
            fields.append(Field(name: name, value: value))
            rest = rest.drop { $0 == " " }
        }
        return fields
    }
}
