/// A place in a JSON value, as in RFC 6901: `/data/0/id`. The empty text is the whole value.
public struct JSONPointer: Sendable, Hashable, CustomStringConvertible {
    /// The pointer as text.
    public let rawValue: String
    /// The members and indexes on the way, without escapes.
    let steps: [String]

    /// The whole value.
    public static let whole = JSONPointer(unchecked: "", steps: [])

    /// `nil` for a text that ``problem(of:)`` rejects.
    public init?(_ text: String) {
        guard Self.problem(of: text) == nil else { return nil }
        let steps = text.split(separator: "/", omittingEmptySubsequences: false).dropFirst()
        self.init(
            unchecked: text,
            steps: steps.map { String($0.replacing("~1", with: "/").replacing("~0", with: "~")) }
        )
    }

    private init(unchecked rawValue: String, steps: [String]) { (self.rawValue, self.steps) = (rawValue, steps) }

    /// Returns what is wrong with a pointer that a person typed, as a sentence without its subject; `nil` for a pointer.
    package static func problem(of text: String) -> String? {
        if text.isEmpty { return nil }
        if text.utf8.count > 512 { return "must have at most 512 bytes." }
        if !text.hasPrefix("/") { return "is a JSON pointer (RFC 6901) and begins with /, such as /\(text)." }
        let tildes = text.split(separator: "~", omittingEmptySubsequences: false).dropFirst()
        if tildes.contains(where: { !$0.hasPrefix("0") && !$0.hasPrefix("1") }) {
            return "has a ~ that is no escape; write ~0 for ~ and ~1 for /."
        }
        return nil
    }

    public var description: String { rawValue }

    /// The value at the place; `nil` if there is none.
    package func value(in tree: JSONTree) -> JSONTree? {
        var value = tree
        for step in steps {
            switch value {
            case .object(let members):
                guard let next = members[step] else { return nil }
                value = next
            case .list(let values):
                guard let index = Int(step), "\(index)" == step, values.indices.contains(index) else { return nil }
                value = values[index]
            case .null, .flag, .number, .decimal, .text: return nil
            }
        }
        return value
    }
}
