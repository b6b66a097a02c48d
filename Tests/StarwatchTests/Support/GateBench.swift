import StarwatchCore
import StarwatchStore

@testable import Starwatch

/// A database, and the ways to one server that begin with it, one after the other.
class GateBench {
    let folder: TestFolder
    let store: Store
    let metrics: AgentMetrics
    let server = "http://127.0.0.1"

    init() throws {
        folder = try TestFolder()
        store = try Store(StoreOptions(path: folder.path("starwatch.db")))
        metrics = try AgentMetrics(polls: ["starred_projects"], sinks: ["file"], now: { ManualClock.start })
    }

    func makeGate(requests: Int = 100, acknowledgements: Int = 1000) -> ServerGate {
        var limits = LimitOptions()
        limits.requestsPerMinute = requests
        limits.acknowledgementsPerMinute = acknowledgements
        return ServerGate(server: server, dialect: .auto, limits: limits, store: store, metrics: metrics)
    }
}

extension ServerGate {
    /// Asks to send a request that ends at once.
    func pass(account: DID, acknowledging identifiers: Int = 0, now: Timestamp) async throws(StoreError) -> Admission {
        let admission = try await admit(account: account, acknowledging: identifiers, now: now)
        if admission == .go { ended(account: account, acknowledging: identifiers, admittedAt: now, now: now) }
        return admission
    }
}
