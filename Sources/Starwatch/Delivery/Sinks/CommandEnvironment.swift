import FoundationEssentials
import Subprocess

/// The environment of the programs that the agent starts.
enum CommandEnvironment {
    private static let names: Set<String> = ["PATH", "HOME", "LANG", "TZ", "TMPDIR", "USER", "LOGNAME"]

    /// Returns the variables that a program inherits. Others can be secrets of the agent's surroundings.
    static func inherited(from environment: [String: String]) -> [String: String] {
        environment.filter { names.contains($0.key) || $0.key.hasPrefix("LC_") }
    }
}

extension Subprocess.Environment {
    /// The environment of the programs that the agent starts.
    static var limited: Self {
        let variables = CommandEnvironment.inherited(from: ProcessInfo.processInfo.environment)
        return .custom(Dictionary(uniqueKeysWithValues: variables.map { (Key(stringLiteral: $0.key), $0.value) }))
    }
}
