import StarwatchCore

@testable import StarwatchStore

extension StorePolls {
    /// The stored request window of an account; `nil` if there is none.
    func requestWindow(of account: DID) async throws(StoreError) -> [UInt8]? {
        try await store.direct(.read) { db in try db.streams.window(of: account) }
    }
}
