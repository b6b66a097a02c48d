import Foundation
import Starwatch
import Testing

@testable import StarwatchCommand

@Suite struct RulesFindingTests {
    private static let url = "http://127.0.0.1:9090"

    @Test(
        arguments: [
            (Double(Finding.rulesVersion), Finding.State.ok), (Double(Finding.rulesVersion + 1), .warning),
            (0, .warning), (nil, .problem), (.nan, .warning), (1e300, .warning),
        ] as [(Double?, Finding.State)]
    )
    func rulesOfAnotherVersionAreAWarning(loaded: Double?, state: Finding.State) {
        #expect(Finding.rules(loaded: .success(loaded)).state == state)
    }

    @Test func withoutPrometheusTheRulesAreNotChecked() {
        #expect(Finding.rules(loaded: nil).state == .skipped)
        let error = AgentError(.failed, "The query to Prometheus failed (connection failed).")
        #expect(Finding.rules(loaded: .failure(error)).text == error.message)
    }

    /// Whoever changes a rule raises the version, and then writes the fingerprint that this test prints.
    @Test func theVersionRisesWithTheRules() throws {
        let text = try String(contentsOf: Pages.root.appending(path: "alerts/starwatch.rules.yml"), encoding: .utf8)
        let recorded = try #require(text.firstMatch(of: /record: starwatch:rules:version\n +expr: vector\((\d+)\)\n/))
        #expect(Int(recorded.1) == Finding.rulesVersion)
        let rules = text.split(separator: "\n").filter { !$0.contains(/^ *#/) && !$0.contains("vector(") }
        // FNV-1a.
        let fingerprint = rules.joined(separator: "\n").utf8.reduce(0xcbf2_9ce4_8422_2325 as UInt64) {
            ($0 ^ UInt64($1)) &* 0x100_0000_01b3
        }
        #expect(String(fingerprint, radix: 16) == "aa398e553e5de673")
    }
}
