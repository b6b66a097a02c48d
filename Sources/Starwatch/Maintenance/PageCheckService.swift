import Logging
import ServiceLifecycle
import StarwatchStore
import StarwatchTelemetry

/// The check of the database's pages after an unclean end, while the agent works.
struct PageCheckService: Service {
    let environment: Environment

    private var store: Store { environment.store }
    private var logger: Logger { environment.logger }

    /// Checks once, and returns at shutdown.
    ///
    /// - Throws: ``AgentError`` for damage, as the start does. The agent then ends.
    func run() async throws {
        logger.log(.storageCheck, [.state: "\(PageCheckPhase.running.name)"])
        let error = await check()
        environment.metrics.storageCheck.set(Double(store.status.pageCheckPhase.rawValue))
        switch error {
        case nil: logger.log(.storageCheck, [.state: "\(PageCheckPhase.passed.name)"])
        case .corrupt(let detail)?:
            let error = AgentError(.configuration, StoreError.corrupt(detail: detail).description)
            logger.log(.storageDamaged, [.error: "\(error.message)"])
            throw error
        case let error?:
            if !Task.isShuttingDownGracefully { logger.log(.storageCheckFailed, [.error: "\(error.description)"]) }
        }
        try? await gracefulShutdown()
    }

    private func check() async -> StoreError? {
        await cancelWhenGracefulShutdown {
            do throws(StoreError) {
                try await store.status.checkPages()
                return nil
            } catch {
                return error
            }
        }
    }
}
