import StarwatchStore

@testable import Starwatch

extension World {
    /// Returns an agent whose database was not closed in good order, and is not checked yet.
    ///
    /// - Parameter spoil: Changes the database before the agent opens it.
    func agentAfterUncleanEnd(_ spoil: (DatabaseOnDisk) throws -> Void = { _ in }) async throws -> Agent {
        var options = options
        options.polls[0].timing = .every(.seconds(3600))
        options.log.level = .info
        try await Agent(options: options, time: clock, logSinks: [log]).close()
        let file = DatabaseOnDisk(path: folder.path("starwatch.db"))
        try file.makeStale()
        try spoil(file)
        var dependencies = AgentDependencies()
        dependencies.store = { store in
            store.checksLater = true
            store.pagesCheckedAtOnce = 0
        }
        return try await Agent(options: options, time: clock, logSinks: [log], dependencies: dependencies.patient)
    }
}
