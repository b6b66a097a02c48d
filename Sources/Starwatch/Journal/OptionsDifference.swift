import StarwatchCore
import StarwatchTransport

/// Returns every setting of the configuration file with its value, by its path. The values can be secret.
package typealias AgentSettings = @Sendable (AgentOptions) -> [String: String]

/// The settings in which two configurations differ, by their names. Values are never told, because some are secret.
struct OptionsDifference: Sendable {
    private let key: InstallationHash
    private let settings: AgentSettings?

    /// - Parameters:
    ///   - key: The installation's key.
    ///   - settings: Returns the settings of the configuration file; `nil` for a host program, which sets properties.
    init(key: [UInt8], settings: AgentSettings?) { (self.key, self.settings) = (InstallationHash(key: key), settings) }

    /// The names in their order: `delivery.sinks.hook.required`.
    func names(_ former: AgentOptions, _ next: AgentOptions) -> [String] {
        let names = settings.map { Self.names($0(former), $0(next)) } ?? []
        // Something else than a setting can differ, such as the content of a file.
        return names.isEmpty ? Self.names(Self.leaves(of: former), Self.leaves(of: next)) : names
    }

    private static func names(_ before: [String: String], _ after: [String: String]) -> [String] {
        Set(before.keys).union(after.keys).filter { before[$0] != after[$0] }.sorted()
    }

    /// The first 12 hexadecimal digits of a hash of all settings, secret ones too, keyed with the installation's random key.
    /// It tells two configurations of one installation apart.
    func hash(_ options: AgentOptions) -> String {
        let lines = Self.leaves(of: options).sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
        return key.hash(configuration: lines.joined(separator: "\n"))
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
        default: leaves[path] = text(of: value)
        }
    }

    /// A text that is the same for equal values in every process. The order of a set or a dictionary differs in each.
    static func text(of value: Any) -> String {
        let mirror = Mirror(reflecting: value)
        let parts = mirror.children.map { ($0.label.map { $0 + ":" } ?? "") + text(of: $0.value) }
        // A class tells its own text; a value without parts is a number, a text or a case.
        guard !parts.isEmpty, mirror.displayStyle != .class else { return String(reflecting: value) }
        let hasOrder = mirror.displayStyle != .set && mirror.displayStyle != .dictionary
        return "(\((hasOrder ? parts : parts.sorted()).joined(separator: ",")))"
    }
}
