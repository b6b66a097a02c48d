import Foundation
import MockEndorser

/// A mock server, and the files of an agent that serves many accounts with an encrypted database.
struct FleetWorld: Sendable {
    /// One of the accounts, as a line of `accounts add --stdin`.
    struct Account: Sendable, Codable {
        var did: String
        var stars: [String]
        /// The addresses by their sinks.
        var sinks: [String: [String: String]]?
    }

    let mock: MockServer
    let workspace: Workspace

    var config: String { workspace.path("starwatch.yaml") }
    var database: String { workspace.path("starwatch.db") }

    /// Starts a server, and writes the configuration. All that is published reaches the webhook of the server.
    ///
    /// - Parameter sink: The settings of the sink; `nil`: that webhook.
    init(plans: Int = 20, latency: Duration = .zero, sink: String? = nil) async throws {
        var options = MockServerOptions()
        options.dialect = .endorser
        options.planCount = plans
        options.requestsPerMinute = nil
        options.latency = latency
        mock = MockServer(options: options)
        try await mock.start()
        workspace = try Workspace()
        try workspace.writeMasterKey()
        try workspace.write(Self.yaml(server: mock.url, sink: sink, in: workspace), to: "starwatch.yaml")
    }

    private static func yaml(server: String, sink: String?, in workspace: Workspace) -> String {
        let hook = #"{name: hook, kind: webhook, url: "\#(server)/hook"}"#
        return """
            server: {url: "\(server)", dialect: endorser}
            accounts: many
            fleet: {requests_per_second: 10000}
            storage: {path: \(workspace.path("starwatch.db"))}
            security: {master_key_file: \(workspace.path("master.key"))}
            polls:
              starred_projects: {kind: starred_projects, every: 1s, bootstrap: beginning}
            limits: {requests_per_minute: 100000}
            delivery:
              group_interval: 0s
              sinks: [\(sink ?? hook)]
            http: {listen: "127.0.0.1:0"}
            control: {socket: \(workspace.path("s.sock"))}
            log: {level: info}

            """
    }

    /// Starts `starwatch run`.
    func start() async throws -> RunningAgent { try await RunningAgent(config: config, in: workspace) }

    /// Runs a command with the agent of this world.
    func command(_ arguments: [String], input: String = "") async throws -> CommandResult {
        try await starwatch(arguments + ["--config", config], input: input)
    }

    /// Accounts in number, each with the next two plans of the server as its stars.
    func accounts(_ count: Int) -> [Account] {
        let plans = mock.planIDs
        return (0..<count).map { index in
            Account(did: Self.did(index + 1), stars: (0..<2).map { plans[(index * 2 + $0) % plans.count] })
        }
    }

    /// Lines for `accounts add --stdin`.
    static func lines(_ accounts: [Account]) throws -> String {
        try accounts.map { String(decoding: try JSONEncoder().encode($0), as: UTF8.self) + "\n" }.joined()
    }

    static func did(_ number: Int) -> String {
        let digits = String(number, radix: 16)
        return "did:ethr:0x" + String(repeating: "0", count: 40 - digits.count) + digits
    }

    /// Makes all accounts due, while no agent runs: as if the minute of the first visits and the leases were over.
    func letTimePass() throws {
        try Database.execute(database, "UPDATE leases SET due_at = CAST(unixepoch() AS INTEGER) * 1000 - 1000")
    }
}
