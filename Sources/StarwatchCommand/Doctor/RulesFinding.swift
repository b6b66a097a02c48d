import Starwatch

/// The finding about the rules that a Prometheus server has loaded.
enum RulesFinding {
    /// The version of `alerts/starwatch.rules.yml`. It rises with each change of that file.
    static let version = 7
    /// The series that the rules record with their version.
    static let query = "max(starwatch:rules:version)"

    private static let files = "/usr/share/starwatch/alerts"

    /// - Parameters:
    ///   - server: The URL of the Prometheus server; `nil` if none is named.
    ///   - loaded: The version that it has loaded; `nil` for none.
    static func finding(server: String?, loaded: Result<Double?, AgentError>) -> Finding {
        guard server != nil else {
            return Finding("rules", .skipped, "Name the Prometheus server with --prometheus URL to check its rules.")
        }
        switch loaded {
        case .failure(let error): return Finding("rules", .problem, error.message)
        case .success(nil):
            return Finding(
                "rules",
                .problem,
                "Prometheus has no rules of Starwatch, or has just started; load those in \(files)."
            )
        case .success(Double(version)):
            return Finding("rules", .ok, "Prometheus has the rules of this version (\(version)).")
        case .success(let other?):
            let found = Int(exactly: other).map { "version \($0)" } ?? "an unknown version"
            let text = "Prometheus has \(found) of the rules, and this program is made for \(version)"
            return Finding("rules", .warning, text + "; load those in \(files).")
        }
    }
}
