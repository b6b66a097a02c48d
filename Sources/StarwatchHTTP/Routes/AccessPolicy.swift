import Glibc
import Hummingbird
import NIOCore
import Starwatch
import Synchronization

/// The answer to a request that is not let in.
struct Refusal: Sendable {
    /// The reason to count; `nil` for a failure of the server.
    var reason: ControlRefusal?
    var answer: Answer
}

/// The access check of a port. The Unix socket has none, because its file mode decides.
///
/// It requires a bearer token or a user's password, and never a cookie, which a page in a browser could use. A client that
/// was refused too often has to wait, and what it sends is not checked meanwhile.
final class AccessPolicy: Sendable {
    /// The credential that lets a request in.
    enum Credential: Sendable {
        /// The token, read for every request, so that a changed file takes effect at once.
        case token(@Sendable () async throws -> String)
        /// The password of one of the users. None lets everybody in.
        case password(PasswordCheck, users: @Sendable () -> [String: String])
        /// None, for a port without a web configuration. It only slows clients that were refused for another reason.
        case nothing
    }

    private let credential: Credential
    private let now: @Sendable () -> Duration
    private let refusals = Mutex(RefusalCount())

    /// - Parameter now: A monotonic time.
    init(_ credential: Credential, now: @escaping @Sendable () -> Duration) {
        self.credential = credential
        self.now = now
    }

    convenience init(token: @escaping @Sendable () async throws -> String, now: @escaping @Sendable () -> Duration) {
        self.init(.token(token), now: now)
    }

    /// The refusal of a request without the credential; `nil` if it has it.
    func refusal(of call: Call, from address: SocketAddress?) async -> Refusal? {
        switch credential {
        case .nothing: nil
        case .token(let token): await refusal(of: call, from: address, without: token)
        case .password(let check, let users): await refusal(of: call, from: address, check, among: users())
        }
    }

    private func refusal(
        of call: Call,
        from address: SocketAddress?,
        without token: @Sendable () async throws -> String
    ) async -> Refusal? {
        let given = bearer(call.headers[.authorization])
        let key = RefusalCount.Key(address, hasToken: given != nil)
        if let refusal = wait(key) { return refusal }
        let expected: String
        do {
            expected = try await token()
        } catch {
            let text = "The control token cannot be read; check control.token_file."
            return Refusal(reason: nil, answer: .error(500, "failed", text))
        }
        // Requests that came at the same time can have failed meanwhile.
        if let refusal = wait(key) { return refusal }
        if let given, !expected.isEmpty, SecretText.isEqual(Array(given.utf8), Array(expected.utf8)) { return nil }
        var answer = Answer.error(401, "unauthorized", "Send the control token as a bearer token.")
        answer.headers[.wwwAuthenticate] = "Bearer"
        return count(Refusal(reason: .token, answer: answer), key)
    }

    private func refusal(
        of call: Call,
        from address: SocketAddress?,
        _ check: PasswordCheck,
        among users: [String: String]
    ) async -> Refusal? {
        if users.isEmpty { return nil }
        let login = Login(authorization: call.headers[.authorization])
        let user = login.flatMap { users[$0.user] == nil ? nil : $0.user }
        let key = RefusalCount.Key(address, hasToken: login != nil, user: user)
        if let refusal = wait(key) { return refusal }
        var answer = Answer.error(
            401,
            "unauthorized",
            "Send a user name and its password with HTTP basic authentication."
        )
        answer.headers[.wwwAuthenticate] = "Basic realm=\"starwatch\", charset=\"UTF-8\""
        let refusal = Refusal(reason: .password, answer: answer)
        guard let login else { return count(refusal, key) }
        // The count comes before the next check, so that requests at the same time cannot try more passwords.
        let outcome = await check.check(login, among: users) {
            _ = self.count(refusal, key)
        } isWanted: {
            self.wait(key) == nil
        }
        switch outcome {
        case .right: return nil
        case .wrong: return refusal
        case .abandoned: return wait(key) ?? refusal
        case .busy:
            var busy = Answer.error(503, "busy", "Too many passwords are being checked; try again in a second.")
            busy.headers[.retryAfter] = "1"
            return Refusal(reason: .rate, answer: busy)
        }
    }

    /// Counts a refusal for another reason than the token. If there were too many, the client has to wait.
    func counted(_ refusal: Refusal, from address: SocketAddress?) -> Refusal {
        let key = RefusalCount.Key(address, hasToken: false)
        return wait(key) ?? count(refusal, key)
    }

    private func count(_ refusal: Refusal, _ key: RefusalCount.Key) -> Refusal {
        let time = now()
        refusals.withLock { $0.add(key, at: time) }
        return refusal
    }

    private func wait(_ key: RefusalCount.Key) -> Refusal? {
        let time = now()
        guard let wait = refusals.withLock({ $0.wait(key, at: time) }) else { return nil }
        let seconds = max(1, wait.components.seconds + (wait.components.attoseconds > 0 ? 1 : 0))
        let text = "Too many requests from this address were refused; wait \(seconds) s, or use the control socket."
        var answer = Answer.error(429, "too_many_requests", text)
        answer.headers[.retryAfter] = String(seconds)
        return Refusal(reason: .rate, answer: answer)
    }

    /// The refusal of a request that a browser sends for a page of another origin; `nil` for all others.
    static func foreignOrigin(of call: Call, schemes: [String]) -> Refusal? {
        guard let origin = call.headers[.origin]?.lowercased() else { return nil }
        let host = call.host?.lowercased() ?? ""
        if schemes.contains(where: { origin == "\($0)://\(host)" }) { return nil }
        let text = "The control API does not answer pages of other origins."
        return Refusal(reason: .origin, answer: .error(403, "forbidden", text))
    }

    private func bearer(_ authorization: String?) -> Substring? {
        guard let authorization, authorization.prefix(7).lowercased() == "bearer " else { return nil }
        return authorization.dropFirst(7)
    }
}

/// The refused requests of each client in the last minute.
struct RefusalCount {
    /// The number of refusals in a minute after which a client has to wait.
    static let limit = 10
    static let window = Duration.seconds(60)
    /// The number of clients that are remembered. Of more, the ones refused first are forgotten.
    static let capacity = 1024

    struct Key: Hashable {
        /// The bytes of an IPv4 address, or of the network of an IPv6 address, because a client has all of that.
        var client: [UInt8]
        /// Whether the request had a token or a password. A page of a browser can send requests without one from the same address, and
        /// must not make the others wait.
        var hasToken: Bool
        /// The user of the request, if there is such a user. Wrong passwords for one do not make another wait.
        var user: String?

        init(_ address: SocketAddress?, hasToken: Bool, user: String? = nil) {
            self.hasToken = hasToken
            self.user = user
            // The address of a link has its interface at the end.
            let text = String(address?.ipAddress?.prefix { $0 != "%" } ?? "")
            var bytes = [UInt8](repeating: 0, count: 16)
            if inet_pton(AF_INET6, text, &bytes) == 1 {
                let isMapped = bytes.prefix(12) == [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255]
                client = isMapped ? Array(bytes.suffix(4)) : Array(bytes.prefix(8))
            } else {
                client = inet_pton(AF_INET, text, &bytes) == 1 ? Array(bytes.prefix(4)) : []
            }
        }
    }

    private var refusals: [Key: (since: Duration, count: Int)] = [:]

    /// The number of remembered clients.
    var count: Int { refusals.count }

    /// Returns the time that a client has to wait; `nil` for none.
    func wait(_ key: Key, at now: Duration) -> Duration? {
        guard let (since, count) = refusals[key], count >= Self.limit, now - since < Self.window else { return nil }
        return Self.window - (now - since)
    }

    mutating func add(_ key: Key, at now: Duration) {
        if let (since, count) = refusals[key], now - since < Self.window {
            refusals[key] = (since, count + 1)
            return
        }
        if refusals[key] == nil, refusals.count >= Self.capacity {
            refusals = refusals.filter { now - $0.value.since < Self.window }
            if refusals.count >= Self.capacity, let oldest = refusals.min(by: { $0.value.since < $1.value.since }) {
                refusals[oldest.key] = nil
            }
        }
        refusals[key] = (now, 1)
    }
}
