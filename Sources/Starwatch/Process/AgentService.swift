public import ServiceLifecycle

/// An agent as one service of a program's own `ServiceGroup`.
///
/// The group decides when it ends: its graceful shutdown stops polling, delivers and acknowledges what is under way,
/// within ``LimitOptions/shutdown``, and closes the database. Signals are the group's business; a reload is refused.
public struct AgentService: Service {
    private let agent: Agent

    public init(_ agent: Agent) {
        self.agent = agent
    }

    /// - Throws: ``AgentError`` when a socket cannot be opened or a service fails.
    public func run() async throws {
        _ = try await agent.run(supervisor: .none, isEmbedded: true)
    }
}
