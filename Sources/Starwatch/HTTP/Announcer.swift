import Logging
import ServiceLifecycle

/// Says where /metrics is, once it is there, because with port 0 nobody could know; that the agent is ready; and that
/// it drains. Ends, and with it the run, when the agent is to stop.
///
/// Stands last among the services, so that it is told first to stop.
struct Announcer: Service {
    let server: AdminServer
    let lifecycle: AgentLifecycle
    let supervisor: Supervisor
    let stopping: Announcement<Void>
    /// Whether the run ends for another one to follow.
    let isReloading: @Sendable () -> Bool
    let logger: Logger

    func run() async throws {
        await cancelWhenGracefulShutdown {
            if let address = await server.boundAddress() {
                logger.log(.httpListening, [.address: "\(address)"])
                supervisor.ready("Running; metrics on \(address).")
            }
            _ = await stopping.value()
        }
        lifecycle.drain()
        if !isReloading() { supervisor.stopping() }
    }
}
