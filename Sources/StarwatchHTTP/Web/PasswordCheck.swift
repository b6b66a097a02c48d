import Crypto
import Dispatch
import FoundationEssentials
import Synchronization

/// The check of users' passwords.
///
/// bcrypt is slow by design. It runs on a thread of its own, one check at a time, so that wrong passwords never delay
/// other answers. A password that was right is remembered as a keyed hash, so that a scraper waits once.
package final class PasswordCheck: Sendable {
    package enum Outcome: Sendable {
        case right, wrong
        /// Too many checks wait.
        case busy
        /// The caller's condition no longer held when its turn came.
        case abandoned
    }

    /// The number of checks that can wait.
    package static let queueLimit = 32
    /// The number of passwords that are remembered.
    package static let memoryLimit = 128

    private struct State {
        var known: [[UInt8]] = []
        var waiting = 0
    }

    private let queue = DispatchQueue(label: "starwatch.passwords")
    private let key = SymmetricKey(size: .bits256)
    private let state = Mutex(State())
    private let matches: @Sendable (_ password: String, _ hash: String) -> Bool
    private let waste: @Sendable (_ password: String, _ cost: Int) -> Void

    package convenience init() {
        self.init(matches: Bcrypt.matches, waste: Bcrypt.waste)
    }

    /// - Parameters:
    ///   - matches: The slow check.
    ///   - waste: Takes the time of a check, for a user who does not exist.
    init(
        matches: @escaping @Sendable (String, String) -> Bool,
        waste: @escaping @Sendable (String, Int) -> Void
    ) {
        self.matches = matches
        self.waste = waste
    }

    /// Checks a password.
    ///
    /// - Parameters:
    ///   - users: The hashes by name. An unknown name takes as long as the highest cost of them.
    ///   - whenWrong: Called for a wrong password, before the next check begins.
    ///   - isWanted: Whether the check is still needed when its turn comes.
    func check(
        _ login: Login,
        among users: [String: String],
        whenWrong: @escaping @Sendable () -> Void = {},
        isWanted: @escaping @Sendable () -> Bool
    ) async -> Outcome {
        let hash = users[login.user]
        let tag = hash.map { fingerprint(of: login, hash: $0) }
        if let tag, state.withLock({ $0.known.contains(tag) }) { return .right }
        let hasRoom = state.withLock { state in
            guard state.waiting < Self.queueLimit else { return false }
            state.waiting += 1
            return true
        }
        guard hasRoom else { return .busy }
        return await withCheckedContinuation { continuation in
            queue.async { [self] in
                let outcome = isWanted() ? decide(login, hash, tag, users) : .abandoned
                state.withLock { $0.waiting -= 1 }
                if outcome == .wrong { whenWrong() }
                continuation.resume(returning: outcome)
            }
        }
    }

    private func decide(_ login: Login, _ hash: String?, _ tag: [UInt8]?, _ users: [String: String]) -> Outcome {
        guard let hash, let tag else {
            waste(login.password, users.values.compactMap(Bcrypt.cost).max() ?? 10)
            return .wrong
        }
        // An equal request can have been checked meanwhile.
        if state.withLock({ $0.known.contains(tag) }) { return .right }
        guard matches(login.password, hash) else { return .wrong }
        state.withLock { state in
            if state.known.count >= Self.memoryLimit { state.known.removeFirst() }
            state.known.append(tag)
        }
        return .right
    }

    /// A hash of the login with a key of this process. A changed password hash makes another one.
    private func fingerprint(of login: Login, hash: String) -> [UInt8] {
        var code = HMAC<SHA256>(key: key)
        for text in [login.user, hash, login.password] {
            let bytes = Array(text.utf8)
            code.update(data: withUnsafeBytes(of: UInt64(bytes.count).littleEndian) { Array($0) })
            code.update(data: bytes)
        }
        return Array(code.finalize())
    }
}

/// A user name and a password, as a request gives them.
struct Login: Sendable, Hashable {
    var user: String
    var password: String

    /// Parses an `Authorization` header; `nil` if it is no Basic one.
    init?(authorization: String?) {
        guard let authorization, authorization.prefix(6).lowercased() == "basic ",
            let data = Data(base64Encoded: String(authorization.dropFirst(6))),
            let text = String(data: data, encoding: .utf8), let colon = text.firstIndex(of: ":")
        else { return nil }
        user = String(text[..<colon])
        password = String(text[text.index(after: colon)...])
    }
}
