public import ServiceLifecycle

/// An agent as one service of a program's own `ServiceGroup`.
///
/// The group decides when the agent ends. Its graceful shutdown stops polling, delivers and acknowledges the work in
/// flight within ``LimitOptions/shutdown``, and closes the database. The group also handles signals, and every reload
/// is rejected.
public struct AgentService: Service {
    private let agent: Agent

    public init(_ agent: Agent) {
        self.agent = agent
    }

    /// - Throws: ``AgentError`` if a socket cannot be opened or a service fails.
    public func run() async throws {
        _ = try await agent.run(supervisor: .none, isEmbedded: true)
    }
}
