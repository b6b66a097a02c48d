import StarwatchTransport
import Synchronization

/// Remembers the token in use, so that a new one can be counted.
final class LastToken: Sendable {
    private let token = Mutex<AccessToken?>(nil)

    /// Stores `new`. Returns `true` if it differs from the previous token.
    func replace(with new: AccessToken) -> Bool {
        token.withLock { token in
            defer { token = new }
            return token != new
        }
    }
}
