import Foundation
import StarwatchCore
import StarwatchStore

@testable import Starwatch

extension Agent {
    /// Lets time pass, then visits every account that is due, one after the other.
    ///
    /// - Returns: The number of visits.
    @discardableResult
    func visitAll(after time: Duration, on clock: ManualClock) async -> Int {
        clock.advance(by: time)
        var visits = 0
        // A visit that waits moves a jumping clock, so that others become due.
        while visits < 100, let service = fleet, case let leases = await service.claim(), !leases.isEmpty {
            for lease in leases { await service.visit(lease) }
            visits += leases.count
        }
        return visits
    }
}

extension World {
    /// An agent for many accounts, with an encrypted database. It polls each of them every minute.
    func agentOfMany(
        dependencies: AgentDependencies = AgentDependencies(),
        _ change: (inout AgentOptions) -> Void = { _ in }
    ) async throws -> Agent {
        let key = try folder.write(Data(repeating: 7, count: 32).base64EncodedString(), to: "key")
        return try await agent(dependencies: dependencies) { options in
            options.accounts = .many
            options.initialIdentity = nil
            options.security.masterKeyFile = key
            options.polls[0].planIDs = []
            options.polls[0].timing = .every(.seconds(60))
            options.fleet.requestsPerSecond = 10_000
            change(&options)
        }
    }
}
