import Foundation
import ProgramTestKit

/// A throw-away Prometheus.
final class Prometheus: Sendable {
    private let process: RunningProgram
    let url: String

    /// Starts it and waits until it answers.
    ///
    /// - Parameters:
    ///   - settings: Further settings of the job, each with the indentation of `job_name`.
    ///   - rules: The text of a rule file.
    ///   - alertmanager: The address alerts go to.
    init(
        scraping address: String,
        as job: String = "agent",
        with settings: [String] = [],
        rules: String? = nil,
        alertmanager: String? = nil,
        in workspace: Workspace
    ) async throws {
        let port = try FreePort.take()
        url = "http://127.0.0.1:\(port)"
        var configuration = """
            global: {scrape_interval: 1s, scrape_timeout: 1s, evaluation_interval: 1s}
            scrape_configs:
              - job_name: \(job)
                static_configs: [{targets: ["\(address)"]}]

            """
        for setting in settings { configuration += "    \(setting)\n" }
        if let rules {
            try workspace.write(rules, to: "rules.yml")
            configuration += "rule_files: [rules.yml]\n"
        }
        if let alertmanager {
            configuration += "alerting: {alertmanagers: [{static_configs: [{targets: [\"\(alertmanager)\"]}]}]}\n"
        }
        try workspace.write(configuration, to: "prometheus.yml")
        process = try RunningProgram(
            "prometheus",
            [
                "--config.file=\(workspace.path("prometheus.yml"))", "--storage.tsdb.path=\(workspace.path("tsdb"))",
                "--web.listen-address=127.0.0.1:\(port)",
            ],
            log: workspace.url.appending(path: "prometheus.log")
        )
        try await process.waitUntilReady(at: "\(url)/-/ready")
    }

    private struct Answer<Result: Decodable>: Decodable {
        let data: Result?
        let error: String?
    }

    private struct Vector: Decodable {
        struct Series: Decodable {
            /// The time and the value; only the value is a text.
            let value: [Value]
        }

        struct Value: Decodable {
            let text: String?

            init(from decoder: any Decoder) throws {
                text = try? decoder.singleValueContainer().decode(String.self)
            }
        }

        let result: [Series]
    }

    private func get<Result: Decodable>(_ path: String, _ parameters: [(String, String)]) async throws -> Result {
        let query = parameters.map { parameter in
            [parameter.0, parameter.1].map { $0.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? $0 }
                .joined(separator: "=")
        }
        let body = try await HTTP.get("\(url)/api/v1/\(path)?\(query.joined(separator: "&"))").body
        let answer = try JSONDecoder().decode(Answer<Result>.self, from: Data(body.utf8))
        guard let data = answer.data else { throw AcceptanceError("Prometheus says: \(answer.error ?? body)") }
        return data
    }

    /// The values of an instant query, one a series.
    func values(_ expression: String) async throws -> [Double] {
        let vector: Vector = try await get("query", [("query", expression)])
        return vector.result.compactMap { $0.value.last?.text.flatMap(Double.init) }
    }

    /// The value of an instant query; `nil` when it has none.
    func query(_ expression: String) async throws -> Double? { try await values(expression).first }

    /// The values that a label has in the series of a selector.
    func values(ofLabel label: String, in selector: String) async throws -> [String] {
        try await get("label/\(label)/values", [("match[]", selector)])
    }

    func stop() async { await process.stop() }

    /// Whether `promtool check metrics` finds nothing wrong with a page.
    static func promtoolAccepts(_ path: String) async throws -> Bool {
        let process = Process()
        process.executableURL = try Program.find("promtool")
        process.arguments = ["check", "metrics"]
        process.standardInput = try FileHandle(forReadingFrom: URL(filePath: path))
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.standardError
        try process.start()
        return await process.end() == 0
    }
}
