import Logging
import ServiceLifecycle

/// Says where /metrics is, once it is there, because with port 0 nobody could know; and that the agent drains.
///
/// Stands last among the services, so that it is told first to stop.
struct Announcer: Service {
    let server: AdminServer
    let lifecycle: AgentLifecycle
    let logger: Logger

    func run() async throws {
        await cancelWhenGracefulShutdown {
            if let address = await server.boundAddress() {
                logger.log(.httpListening, [.address: "\(address)"])
            }
            try? await gracefulShutdown()
        }
        lifecycle.drain()
    }
}
