import Logging
import ServiceLifecycle

/// Says where /metrics is, once it is there: with port 0 nobody could know.
struct Announcer: Service {
    let server: AdminServer
    let logger: Logger

    func run() async throws {
        await cancelWhenGracefulShutdown {
            if let address = await server.boundAddress() {
                logger.notice("http.listening", metadata: ["address": "\(address)", "fold": "never"])
            }
            try? await gracefulShutdown()
        }
    }
}
