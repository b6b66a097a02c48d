import CCrypt
import Crypto
import Dispatch
import FoundationEssentials
import Glibc
import Synchronization

/// The check of users' passwords.
///
/// bcrypt is slow by design. It runs on a thread of its own, one check at a time, so that wrong passwords never delay
/// other answers. A password that was right is remembered as a keyed hash, so that a scraper waits once.
final class PasswordCheck: Sendable {
    enum Outcome: Sendable {
        case right, wrong
        /// Too many checks wait.
        case busy
        /// The caller's condition no longer held when its turn came.
        case abandoned
    }

    /// The number of checks that can wait.
    static let queueLimit = 32
    /// The number of passwords that are remembered.
    static let memoryLimit = 128

    private struct State {
        var known: [[UInt8]] = []
        var waiting = 0
    }

    private let queue = DispatchQueue(label: "starwatch.passwords")
    private let key = SymmetricKey(size: .bits256)
    private let state = Mutex(State())
    private let matches: @Sendable (_ password: String, _ hash: String) -> Bool
    private let waste: @Sendable (_ password: String, _ cost: Int) -> Void

    convenience init() {
        self.init(matches: Bcrypt.matches, waste: Bcrypt.waste)
    }

    /// - Parameters:
    ///   - matches: The slow check.
    ///   - waste: Takes the time of a check, for a user who does not exist.
    init(matches: @escaping @Sendable (String, String) -> Bool, waste: @escaping @Sendable (String, Int) -> Void) {
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
                let outcome = isWanted() ? decide(login, among: users, hash: hash, tag: tag) : .abandoned
                state.withLock { $0.waiting -= 1 }
                if outcome == .wrong { whenWrong() }
                continuation.resume(returning: outcome)
            }
        }
    }

    private func decide(_ login: Login, among users: [String: String], hash: String?, tag: [UInt8]?) -> Outcome {
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

/// The check of a password against a bcrypt hash, by the system's libcrypt.
package enum Bcrypt {
    /// The highest accepted cost. A check of it takes about a second, and of every higher one twice as long.
    package static let maximumCost = 14

    /// The cost of a hash; `nil` if the text is no bcrypt hash of an accepted kind.
    package static func cost(of hash: String) -> Int? {
        let parts = hash.split(separator: "$", omittingEmptySubsequences: false)
        guard parts.count == 4, parts[0].isEmpty, ["2a", "2b", "2y"].contains(parts[1]), parts[2].utf8.count == 2,
            let cost = Int(parts[2]), (4...31).contains(cost), parts[3].utf8.count == 53,
            parts[3].utf8.allSatisfy({ $0 == 46 || $0 == 47 || isAlphanumeric($0) })
        else { return nil }
        return cost
    }

    private static func isAlphanumeric(_ byte: UInt8) -> Bool {
        (48...57).contains(byte) || (65...90).contains(byte) || (97...122).contains(byte)
    }

    /// Returns whether the password has the hash. Takes 50 ms or more, so it must not run on an event loop.
    static func matches(_ password: String, _ hash: String) -> Bool {
        // The password ends at a NUL for the library, so another one would match too.
        guard !password.utf8.contains(0), let computed = crypt(password, hash) else { return false }
        return SecretText.isEqual(Array(computed.utf8), Array(hash.utf8))
    }

    /// Takes as long as the check of a password against a hash of `cost`.
    static func waste(_ password: String, cost: Int) {
        let digits = (cost < 10 ? "0" : "") + String(cost)
        _ = crypt(password.utf8.contains(0) ? "" : password, "$2b$\(digits)$" + String(repeating: ".", count: 22))
    }

    private static func crypt(_ password: String, _ setting: String) -> String? {
        var memory: UnsafeMutableRawPointer?
        var size: Int32 = 0
        defer {
            if let memory {
                explicit_bzero(memory, Int(size))
                free(memory)
            }
        }
        guard let text = crypt_ra(password, setting, &memory, &size) else { return nil }
        return String(cString: text)
    }
}

/// The comparison of secrets.
enum SecretText {
    /// Compares in constant time, so that the time does not reveal the first wrong byte. It does reveal the length.
    static func isEqual(_ a: [UInt8], _ b: [UInt8]) -> Bool {
        guard a.count == b.count else { return false }
        var difference: UInt8 = 0
        for i in a.indices { difference |= a[i] ^ b[i] }
        return difference == 0
    }
}
