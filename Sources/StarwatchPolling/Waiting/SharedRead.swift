import StarwatchStore
import Synchronization

/// A read of the database that is made once, also if several tasks need it together. After a failure the next task tries again.
final class SharedRead: Sendable {
    private let made = Mutex<Promise<StoreError?>?>(nil)

    /// Returns when `read` has succeeded, here or in another task.
    func run(_ read: () async throws(StoreError) -> Void) async throws(StoreError) {
        let own = Promise<StoreError?>()
        let former = made.withLock { made in
            defer { made = made ?? own }
            return made
        }
        var failure: StoreError?
        if let former {
            failure = await former.outcome() ?? nil
        } else {
            do throws(StoreError) { try await read() } catch {
                failure = error
                made.withLock { $0 = nil }
            }
            own.fulfil(failure)
        }
        if let failure { throw failure }
    }
}
