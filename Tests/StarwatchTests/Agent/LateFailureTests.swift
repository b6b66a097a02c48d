import MockEndorser
import StarwatchCore
import StarwatchStore
import Synchronization
import Testing

@testable import Starwatch

/// A write can reach the disk and fail all the same. The agent then goes by what is stored, not by what it remembers.
@Suite struct LateFailureTests {
    /// Fails transactions of one kind after their commit.
    private final class LateFailure: Sendable {
        private let operation = Mutex<StoreOperation?>(nil)

        var dependencies: AgentDependencies {
            var dependencies = AgentDependencies()
            dependencies.store = { options in
                options.interrupt = { (operation, moment) throws(StoreError) in
                    guard moment == .ended, self.operation.withLock({ $0 == operation }) else { return }
                    throw StoreError.io(detail: "late")
                }
            }
            return dependencies
        }

        func during(_ kind: StoreOperation, _ body: () async throws -> Void) async {
            operation.withLock { $0 = kind }
            await #expect(throws: ControlError.self) { try await body() }
            operation.withLock { $0 = nil }
        }
    }

    @Test func starsAreAskedAboutThoughTheirChangeFailed() async throws {
        try await World.with(.canonical, plans: 2) { world in
            let failure = LateFailure()
            let agent = try await world.agent(dependencies: failure.dependencies) {
                $0.polls[0].planIDs = [world.mock.planIDs[0]]
                $0.polls[0].bootstrap = .beginning
            }
            #expect(await agent.cycle().outcome == .unchanged)
            await failure.during(.stars) {
                _ = try await agent.changeStars(StarsChange(operation: .add, planIDs: [world.mock.planIDs[1]]))
            }
            world.mock.publish([MockChange(planID: world.mock.planIDs[1], name: "Elm")])
            #expect(await agent.cycle().new == 1)
        }
    }

    @Test func theIdentityIsTheStoredOneThoughItsChangeFailed() async throws {
        try await World.with(.canonical) { world in
            let failure = LateFailure()
            let agent = try await world.agent(dependencies: failure.dependencies)
            #expect(await agent.cycle().outcome == .bootstrapped)
            await failure.during(.identity) { _ = try await agent.setIdentity(nil) }
            #expect(await agent.cycle().skip == .noIdentity)
        }
    }
}
