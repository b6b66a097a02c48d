import StarwatchCore
import StarwatchStore
import StarwatchTestKit

@testable import StarwatchPolling

/// A database, and the ways to one server that begin with it, one after the other.
class GateBench {
    let folder: TestFolder
    let store: Store
    let server = "http://127.0.0.1"

    init() throws {
        folder = try TestFolder()
        store = try Store(StoreOptions(path: folder.path("starwatch.db")))
    }

    func makeGate(requests: Int = 100, acknowledgements: Int = 1000, on other: Store? = nil) -> Gate {
        Gate(
            server: server,
            limits: GateLimits(
                requestsPerMinute: requests,
                acknowledgementsPerMinute: acknowledgements,
                areOfAccounts: true
            ),
            store: other ?? store
        )
    }
}
