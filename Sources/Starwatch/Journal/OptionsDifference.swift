import StarwatchCore
import StarwatchTransport

/// The settings in which two configurations differ, by their names. Values are never told, because some are secret.
enum OptionsDifference {
    /// The names in their order: `delivery.sinks.hook.retries`.
    static func names(_ former: AgentOptions, _ next: AgentOptions) -> [String] {
        let (before, after) = (leaves(of: former), leaves(of: next))
        return Set(before.keys).union(after.keys).filter { before[$0] != after[$0] }.sorted()
    }

    /// The first 12 hexadecimal digits of a hash of all settings: enough to tell two configurations apart, and too few to
    /// find a secret.
    static func hash(_ options: AgentOptions) -> String {
        let lines = leaves(of: options).sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
        return String(ContentHash.text(lines.joined(separator: "\n")).prefix(12))
    }

    private static func leaves(of options: AgentOptions) -> [String: String] {
        var leaves: [String: String] = [:]
        collect(options, at: "", into: &leaves)
        return leaves
    }

    private static func collect(_ value: Any, at path: String, into leaves: inout [String: String]) {
        let mirror = Mirror(reflecting: value)
        switch mirror.displayStyle {
        case .optional:
            if let content = mirror.children.first { collect(content.value, at: path, into: &leaves) }
        case .struct where String(describing: type(of: value)).hasSuffix("Options"):
            for child in mirror.children {
                guard let label = child.label else { continue }
                collect(child.value, at: (path.isEmpty ? "" : path + ".") + ControlJSON.snake(label), into: &leaves)
            }
        case .collection:
            for (index, child) in mirror.children.enumerated() {
                let name = Mirror(reflecting: child.value).children.first { $0.label == "name" }.map { "\($0.value)" }
                collect(child.value, at: "\(path).\(name ?? String(index))", into: &leaves)
            }
        case .set, .dictionary: leaves[path] = mirror.children.map { "\($0.value)" }.sorted().joined(separator: ",")
        default: leaves[path] = String(reflecting: value)
        }
    }
}
