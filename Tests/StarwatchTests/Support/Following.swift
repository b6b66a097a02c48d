@testable import Starwatch

/// Runs the schedules while `body` lets time pass, then stops them.
func following(_ agent: Agent, _ body: () async throws -> Void) async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
        let service = agent.runtime.pollService
        group.addTask { try await service.run() }
        let result: Result<Void, any Error>
        do {
            try await body()
            result = .success(())
        } catch {
            result = .failure(error)
        }
        group.cancelAll()
        try await group.waitForAll()
        try result.get()
    }
}
