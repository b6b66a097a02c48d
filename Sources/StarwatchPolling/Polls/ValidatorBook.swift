import StarwatchCore
import StarwatchStore
import Synchronization

/// What one-time requests were last answered with, for the next one of the same account, server and endpoint.
final class ValidatorBook: Sendable {
    /// More are not kept: the oldest goes.
    private static let limit = 256

    private struct Key: Hashable {
        let account: DID?
        let server: String
        let endpoint: String
    }

    private struct State {
        var validators: [Key: StoredValidator] = [:]
        var order: [Key] = []
    }

    private let state = Mutex(State())

    subscript(context: PollingContext, endpoint: String) -> StoredValidator? {
        get {
            state.withLock { $0.validators[Key(account: context.account, server: context.server, endpoint: endpoint)] }
        }
        set {
            let key = Key(account: context.account, server: context.server, endpoint: endpoint)
            state.withLock { state in
                if state.validators[key] == nil { state.order.append(key) }
                state.validators[key] = newValue
                if state.order.count > Self.limit { state.validators[state.order.removeFirst()] = nil }
            }
        }
    }
}
