import Foundation
import MockEndorser

extension AgentWorld {
    /// One of many accounts, as a line of `accounts add --stdin`.
    struct Account: Sendable, Codable {
        var did: String
        var stars: [String]
        /// The addresses by their sinks.
        var sinks: [String: [String: String]]?
    }

    /// A world whose agent serves many accounts with an encrypted database.
    ///
    /// - Parameter haveHooks: Whether each account has a webhook of its own; otherwise they share that of the server.
    static func ofAccounts(
        plans: Int = 20,
        latency: Duration = .zero,
        haveHooks: Bool = false
    ) async throws -> AgentWorld {
        try await AgentWorld {
            $0.dialect = .endorser
            $0.planCount = plans
            $0.latency = latency
        } configure: { configuration, workspace in
            configuration.serverLines = "dialect: endorser"
            configuration.isOfMany = true
            configuration.requestsPerMinute = 100_000
            configuration.groupInterval = "0s"
            let hook = TestConfiguration.webhook(configuration.server)
            configuration.sinks = haveHooks ? "    - {name: hook, kind: webhook}" : hook
            configuration.logLevel = "info"
            configuration.isEncrypted = true
            try workspace.writeMasterKey()
        }
    }

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
