import Foundation
import MockEndorser
import StarwatchCore
import Testing

@testable import Starwatch

/// An agent for two accounts, and two receivers on ports of their own, of which each checks signatures with a secret of its
/// own.
struct AddressBench {
    static let first = TestAccount.ethr
    static let second = TestAccount.other
    static let secrets = ["the first secret", "the second secret"]

    let world: World
    let agent: Agent
    let receivers: [MockServer]

    /// - Parameter sink: The settings of the sink `my_hook`, whose address each account brings.
    static func with(
        clock: ManualClock.Mode = .jumping,
        _ change: (inout AgentOptions) -> Void = { _ in },
        sink: (inout SinkOptions) -> Void = { _ in },
        _ body: (AddressBench) async throws -> Void
    ) async throws {
        try await World.with(.endorser, clock: clock) { world in
            var hook = SinkOptions(
                name: "my_hook",
                kind: .webhook(url: "", secretFile: nil, timeout: .seconds(60))
            )
            sink(&hook)
            let agent = try await world.agentOfMany { options in
                options.delivery.sinks = [hook]
                options.log.level = .trace
                change(&options)
            }
            let receivers = secrets.map { secret in
                var options = MockServerOptions()
                options.hookSecret = Array(secret.utf8)
                options.now = { Date(timeIntervalSince1970: world.clock.now.seconds) }
                return MockServer(options: options)
            }
            for receiver in receivers { try await receiver.start() }
            let bench = AddressBench(world: world, agent: agent, receivers: receivers)
            do {
                try await body(bench)
            } catch {
                for receiver in receivers { try await receiver.stop() }
                throw error
            }
            for receiver in receivers { try await receiver.stop() }
        }
    }

    /// The address of a receiver.
    func address(_ index: Int) -> SinkAddress {
        SinkAddress(url: receivers[index].url + "/hook?\(Self.mark(index))", secret: Self.secrets[index])
    }

    /// A text that is only in the URL of a receiver.
    static func mark(_ index: Int) -> String { "key=0ca7f1\(index)" }

    /// Adds an account that stars the plan of its index.
    @discardableResult
    func add(
        _ did: DID,
        plan: Int,
        at address: SinkAddress??
    ) async throws -> AccountAdditionsReport.Entry {
        var entry = AccountAdditions.Entry(did: did.rawValue, stars: [world.mock.planIDs[plan]])
        if let address { entry.sinks = ["my_hook": address] }
        let report = try await agent.perform(ControlAPI.addAccounts, AccountAdditions(accounts: [entry]))
        return report.accounts[0]
    }

    func addBoth() async throws {
        try #expect(await add(Self.first, plan: 0, at: address(0)).result == "added")
        try #expect(await add(Self.second, plan: 1, at: address(1)).result == "added")
        await agent.visitAll(after: .seconds(60), on: world.clock)
    }

    /// Publishes a change for each account, and lets all be visited.
    func publish(visits: Int = 1) async -> [String] {
        let ids = world.mock.publish(world.mock.planIDs.prefix(2).map { MockChange(planID: $0) })
        for _ in 0..<visits { await agent.visitAll(after: .seconds(61), on: world.clock) }
        return ids
    }

    /// The ids that a receiver got.
    func received(_ index: Int) -> [String] { receivers[index].receivedNotifications.flatMap(\.jwtIDs) }

    func report(_ did: DID) async throws -> AccountReport {
        try await agent.perform(ControlAPI.showAccount, IdentityRemoval(did: did.rawValue))
    }
}
