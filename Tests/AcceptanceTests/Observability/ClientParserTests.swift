import Foundation
import ProgramTestKit
import Testing

/// A reader of metrics that is not ours reads our pages.
@Suite(.serialized) struct ClientParserTests {
    /// Reads both pages strictly and prints, for each, its families and its series, and whether the two agree.
    private static let reader = #"""
        import json, math, sys
        from prometheus_client.openmetrics.parser import text_string_to_metric_families as open_metrics
        from prometheus_client.parser import text_string_to_metric_families as text

        def series(families):
            return {
                (s.name, tuple(sorted((k, str(float(v)) if k == "le" else v) for k, v in s.labels.items())))
                for f in families for s in f.samples
            }

        pages = [list(read(open(path).read())) for read, path in ((open_metrics, sys.argv[1]), (text, sys.argv[2]))]
        a, b = (series(page) for page in pages)
        exemplars = sum(s.exemplar is not None for f in pages[0] for s in f.samples)
        finite = all(math.isfinite(s.value) for f in pages[0] for s in f.samples)
        print(json.dumps({
            "families": [len(page) for page in pages], "series": [len(a), len(b)],
            "differ": sorted(name for name, _ in a ^ b), "exemplars": exemplars, "finite": finite,
        }))
        """#

    private struct Findings: Decodable {
        let families: [Int]
        let series: [Int]
        let differ: [String]
        let exemplars: Int
        let finite: Bool
    }

    @Test func prometheusClientReadsBothPagesUnderALoadOfFaults() async throws {
        let world = try await FaultyLoad()
        let loaded = try await eventually { try await world.stir().isEmpty ? true : nil }
        #expect(loaded == true)
        let unseen = try await world.stir()
        #expect(unseen == [], "the load has not had these")
        let workspace = try Workspace()
        let pages = world.agent.pages
        let accept = "application/openmetrics-text; version=1.0.0"
        let openMetrics = try await pages.get("/metrics", headers: ["Accept": accept])
        let text = try await pages.get("/metrics", headers: ["Accept": "text/plain"])
        try workspace.write(openMetrics, to: "om")
        try workspace.write(text, to: "text")
        let found = try Self.read(workspace.path("om"), workspace.path("text"))
        // Read from the same page: a problem that begins later adds series to the next one.
        let line = try #require(text.split(separator: "\n").first { $0.hasPrefix("starwatch_metrics_series ") })
        let count = try #require(line.split(separator: " ").last.flatMap { Double($0) })
        #expect(found.differ == [])
        #expect(found.series == [Int(count), Int(count)])
        #expect(found.families[0] == found.families[1])
        #expect(found.exemplars > 0)
        #expect(found.finite)
        try await world.stop()
    }

    @Test(arguments: [
        "# TYPE a counter\n# HELP a h\na 1\n# EOF\n", "# TYPE a gauge\n# HELP a h\na{b=\"1} 1\n# EOF\n",
        "# TYPE a gauge\n# HELP a h\na 1\n",
    ])
    func theReaderRefusesAPageThatIsWrong(page: String) throws {
        let workspace = try Workspace()
        try workspace.write(page, to: "om")
        try workspace.write("a 1\n", to: "text")
        #expect(throws: AcceptanceError.self) { try Self.read(workspace.path("om"), workspace.path("text")) }
    }

    /// Runs the distribution's Python, which has the library; another one on the path may not.
    private static func read(_ openMetrics: String, _ text: String) throws -> Findings {
        let (process, output, errors) = (Process(), Pipe.make(), Pipe.make())
        process.executableURL = try Program.find("python3", in: "/usr/bin")
        process.arguments = ["-c", reader, openMetrics, text]
        process.standardOutput = output
        process.standardError = errors
        try process.start()
        let said = try output.fileHandleForReading.readToEnd() ?? Data()
        let complaint = String(decoding: try errors.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            throw AcceptanceError(
                complaint.contains("No module named 'prometheus_client'")
                    ? "python3-prometheus-client is not installed; run scripts/setup, which installs what the tests need."
                    : complaint
            )
        }
        return try JSONDecoder().decode(Findings.self, from: said)
    }
}
