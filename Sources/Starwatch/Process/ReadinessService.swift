import Logging
import ServiceLifecycle

/// Logs the address of the metrics page as soon as it is known. Tells the supervisor that the agent is ready and,
/// later, that it drains. Ends the run when the agent must stop.
///
/// It is the last service, so graceful shutdown reaches it first.
struct ReadinessService: Service {
    /// Returns the address of the metrics page, with the port that the system chose for port 0; `nil` if there is no
    /// page.
    let address: @Sendable () async -> String?
    let lifecycle: AgentLifecycle
    let supervisor: Supervisor
    let stopping: Promise<Void>
    /// Returns whether another run follows this one.
    let isReloading: @Sendable () -> Bool
    let logger: Logger

    func run() async throws {
        await cancelWhenGracefulShutdown {
            if let address = await address() {
                logger.log(.httpListening, [.address: "\(address)"])
                supervisor.ready("Running; metrics on \(address).")
            }
            _ = await stopping.value()
        }
        lifecycle.drain()
        if !isReloading() { supervisor.stopping() }
    }
}
