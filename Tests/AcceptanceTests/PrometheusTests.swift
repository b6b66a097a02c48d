import Foundation
import MockEndorser
import Testing

/// A real Prometheus scrapes the built agent.
@Suite(.serialized) struct PrometheusTests {
    /// The twelve families that never change.
    static let contract = [
        "starred_projects_poll_attempts_total", "starred_projects_poll_success_total",
        "starred_projects_poll_failure_total", "starred_projects_poll_duration_seconds_count",
        "starred_projects_changes_found_total", "starred_projects_notifications_generated_total",
        "starred_projects_error_total", "starred_projects_rate_limit_total",
        "starred_projects_api_latency_seconds_count", "starred_projects_api_throughput_rps",
        "starred_projects_outbox_size", "starred_projects_outbox_backpressure_active",
    ]

    @Test func prometheusScrapesTheContractSetAndNoSeriesComesOrGoes() async throws {
        var options = MockServerOptions()
        options.dialect = .endorser
        options.requestsPerMinute = nil
        let mock = MockServer(options: options)
        try await mock.start()
        let workspace = try Workspace()
        let configuration = TestConfiguration(
            server: mock.url,
            plans: mock.planIDs,
            sinks: TestConfiguration.webhook(mock.url),
            logLevel: "info"
        )
        try workspace.write(configuration.yaml(in: workspace), to: "starwatch.yaml")
        let agent = try await RunningAgent(config: workspace.path("starwatch.yaml"), in: workspace)
        let before = try await Self.series(of: agent)

        let prometheus = try await Prometheus(scraping: agent.address, in: workspace)
        let isUp = try await eventually { try await prometheus.query("up{job=\"agent\"}") == 1 ? true : nil }
        #expect(isUp == true)

        mock.script(.rateLimited(retryAfter: .seconds(1)), .status(500), .malformedJSON, at: .plansChanged)
        mock.publish(mock.plans.prefix(7).map { MockChange(planID: $0.id) })
        let arrived = await eventually { mock.receivedNotifications.flatMap(\.jwtIDs).count == 7 ? true : nil }
        #expect(arrived == true)
        let found = try await eventually {
            try await prometheus.query("starred_projects_changes_found_total") == 7 ? true : nil
        }
        #expect(found == true)
        for family in Self.contract {
            #expect(try await prometheus.query(family) != nil, "\(family) is not in Prometheus")
        }
        #expect(try await prometheus.query("starred_projects_rate_limit_total") == 1)
        #expect(try await Self.series(of: agent) == before)

        for accept in ["text/plain", "application/openmetrics-text;version=1.0.0"] {
            let answer = try await HTTP.get("http://\(agent.address)/metrics", headers: ["Accept": accept])
            #expect(answer.status == 200)
            #expect(answer.type.hasPrefix(String(accept.split(separator: ";")[0])))
            #expect(answer.body.hasSuffix("# EOF\n") == accept.contains("openmetrics"))
        }
        let page = try await agent.pages.get("/metrics", headers: ["Accept": "text/plain"])
        try workspace.write(page, to: "page.txt")
        #expect(try await Prometheus.promtoolAccepts(workspace.path("page.txt")))
        prometheus.stop()
        agent.stop()
        try await mock.stop()
    }

    /// Names and labels of every series, without values.
    private static func series(of agent: RunningAgent) async throws -> Set<String> {
        let page = try await agent.pages.get("/metrics", headers: ["Accept": "text/plain"])
        return Set(
            page.split(separator: "\n").filter { !$0.hasPrefix("#") }.map { line in
                String(line[..<line.lastIndex(of: " ")!])
            }
        )
    }
}

/// A throw-away Prometheus.
final class Prometheus: Sendable {
    private let process: Process
    private let port: Int

    init(scraping address: String, in workspace: Workspace) async throws {
        port = try FreePort.take()
        try workspace.write(
            """
            global: {scrape_interval: 1s, scrape_timeout: 1s}
            scrape_configs:
              - job_name: agent
                static_configs: [{targets: ["\(address)"]}]
            """,
            to: "prometheus.yml"
        )
        process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = [
            "prometheus", "--config.file=\(workspace.path("prometheus.yml"))",
            "--storage.tsdb.path=\(workspace.path("tsdb"))", "--web.listen-address=127.0.0.1:\(port)",
        ]
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
        let url = "http://127.0.0.1:\(port)/-/ready"
        let ready = await eventually { (try? await HTTP.get(url).status) == 200 ? true : nil }
        guard ready == true else { throw AcceptanceError("Prometheus did not start") }
    }

    /// The value of an instant query; `nil` when it has none.
    func query(_ expression: String) async throws -> Double? {
        struct Answer: Decodable {
            struct Series: Decodable {
                let value: [Value]
            }
            struct Data: Decodable { let result: [Series] }
            enum Value: Decodable {
                case number(Double), text(String)
                init(from decoder: any Decoder) throws {
                    let container = try decoder.singleValueContainer()
                    if let number = try? container.decode(Double.self) {
                        self = .number(number)
                    } else {
                        self = .text(try container.decode(String.self))
                    }
                }
            }
            let data: Data
        }
        let encoded = expression.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? expression
        let body = try await HTTP.get("http://127.0.0.1:\(port)/api/v1/query?query=\(encoded)").body
        let answer = try JSONDecoder().decode(Answer.self, from: Data(body.utf8))
        guard case .text(let text)? = answer.data.result.first?.value.last else { return nil }
        return Double(text)
    }

    func stop() {
        process.terminate()
        process.waitUntilExit()
    }

    deinit { if process.isRunning { process.terminate() } }

    /// Whether `promtool check metrics` finds nothing wrong with a page.
    static func promtoolAccepts(_ path: String) async throws -> Bool {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = ["promtool", "check", "metrics"]
        process.standardInput = try FileHandle(forReadingFrom: URL(filePath: path))
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.standardError
        try process.run()
        process.waitUntilExit()
        return process.terminationStatus == 0
    }
}

/// A port that nobody listens on at this moment.
enum FreePort {
    static func take() throws -> Int {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let port = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer -> UInt16 in
                guard bind(descriptor, pointer, length) == 0, getsockname(descriptor, pointer, &length) == 0 else {
                    return 0
                }
                return UnsafeRawPointer(pointer).load(as: sockaddr_in.self).sin_port.bigEndian
            }
        }
        guard port != 0 else { throw AcceptanceError("no free port") }
        return Int(port)
    }
}
