import Hummingbird
import NIOCore
import Starwatch
import StarwatchCore
import Synchronization

/// The answer to a request that is not let in.
struct Refusal: Sendable {
    /// The reason to count; `nil` for a failure of the server.
    var reason: ControlRefusal?
    var answer: Answer
}

/// The access check of a port. The Unix socket has none, because its file mode decides.
///
/// It requires a bearer token or a user's password, and never a cookie, which a page in a browser could use. For the feed
/// alone, a token in the address is enough. A client that was refused too often is told to wait. The right token or password
/// lets in whoever shares its address all the same, except to a feed of many accounts. Only a client with more connections than passwords can wait delays others
/// of its own address, and no other.
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
    private let feeds: FeedAddresses?
    private let now: @Sendable () -> Duration
    private let refusals = Mutex(RefusalCount())

    /// - Parameter now: A monotonic time.
    init(
        _ credential: Credential,
        feeds: FeedAddresses? = nil,
        now: @escaping @Sendable () -> Duration
    ) {
        (self.credential, self.feeds, self.now) = (credential, feeds, now)
    }

    /// The refusal of a request without the credential; `nil` if it has it.
    ///
    /// - Parameter call: Gets the account whose feed its address opens.
    func refusal(of call: inout Call, from address: SocketAddress?) async -> Refusal? {
        if let feeds, let given = call.feedToken {
            let client = RefusalCount.Key(address, hasToken: true)
            if feeds.areOfAccounts, let wait = refusals.withLock({ [time = now()] in $0.wait(client, at: time) }) {
                // Without a look at the database, which works for all accounts.
                return Self.tooMany(wait: wait)
            }
            var key: FeedKey?
            let refusal = Refusal(reason: .token, answer: feeds.areOfAccounts ? unauthorized : feeds.refusal)
            var refused = await self.refusal(refusal, of: given[...], from: address, feeds.problem) {
                key = try await feeds.key(given)
                return key?.token ?? ""
            }
            if refused?.reason == .token, feeds.isFormer(given) { refused?.reason = .formerToken }
            if refused == nil { call.caller.account = key?.account }
            return refused
        }
        switch credential {
        case .nothing: return nil
        case .token(let token):
            let given = bearer(call.headers[.authorization])
            let refusal = Refusal(reason: .token, answer: unauthorized)
            let problem = "The token cannot be read; check control.token_file."
            return await self.refusal(refusal, of: given, from: address, problem, unless: token)
        case .password(let check, let users):
            return await refusal(of: call, from: address, check, among: users())
        }
    }

    /// Returns the refusal unless the given token is the right one.
    private func refusal(
        _ refusal: Refusal,
        of given: Substring?,
        from address: SocketAddress?,
        _ problem: String,
        unless token: () async throws -> String
    ) async -> Refusal? {
        guard let given else { return counted(refusal, RefusalCount.Key(address, hasToken: false)) }
        let expected: String
        do {
            expected = try await token()
        } catch {
            return Refusal(reason: nil, answer: .error(500, "failed", problem))
        }
        if !expected.isEmpty, Array(given.utf8).isEqual(toSecret: Array(expected.utf8)) { return nil }
        return counted(refusal, RefusalCount.Key(address, hasToken: true))
    }

    private func refusal(
        of call: Call,
        from address: SocketAddress?,
        _ check: PasswordCheck,
        among users: [String: String]
    ) async -> Refusal? {
        if users.isEmpty { return nil }
        let refusal = Refusal(reason: .password, answer: unauthorized)
        guard let login = Login(authorization: call.headers[.authorization]) else {
            return counted(refusal, RefusalCount.Key(address, hasToken: false))
        }
        switch await check.check(login, of: ClientNetwork(address), among: users) {
        case .right: return nil
        case .wrong: return counted(refusal, RefusalCount.Key(address, hasToken: true))
        case .busy:
            var busy = Answer.error(503, "busy", "Too many passwords are being checked; try again in a second.")
            busy.headers[.retryAfter] = "1"
            return Refusal(reason: .rate, answer: busy)
        }
    }

    /// The answer to a request without the credential, whatever its page.
    private var unauthorized: Answer {
        let (text, scheme): (String, String)
        switch credential {
        case .token: (text, scheme) = ("Send the control token as a bearer token.", "Bearer")
        case .password(_, let users) where !users().isEmpty:
            text = "Send a user name and its password with HTTP basic authentication."
            scheme = "Basic realm=\"starwatch\", charset=\"UTF-8\""
        case .password, .nothing: return .noSuchPage
        }
        var answer = Answer.error(401, "unauthorized", text)
        answer.headers[.wwwAuthenticate] = scheme
        return answer
    }

    /// The name of the credential that a request has, for the journal; `nil` if everybody is let in.
    func name(of call: Call) -> String? {
        switch credential {
        case .token: "token"
        case .nothing: nil
        case .password: Login(authorization: call.headers[.authorization])?.user
        }
    }

    /// Counts a refusal for another reason than the token. If there were too many, the client has to wait.
    func counted(_ refusal: Refusal, from address: SocketAddress?) -> Refusal {
        counted(refusal, RefusalCount.Key(address, hasToken: false))
    }

    private func counted(_ refusal: Refusal, _ key: RefusalCount.Key) -> Refusal {
        let time = now()
        let wait = refusals.withLock { refusals in
            let wait = refusals.wait(key, at: time)
            if wait == nil { refusals.add(key, at: time) }
            return wait
        }
        return wait.map(Self.tooMany) ?? refusal
    }

    private static func tooMany(wait: Duration) -> Refusal {
        let seconds = max(1, wait.components.seconds + (wait.components.attoseconds > 0 ? 1 : 0))
        let text = "Too many requests from this address were refused; wait \(seconds) s, or use the control socket."
        var answer = Answer.error(429, "too_many_requests", text)
        answer.headers[.retryAfter] = String(seconds)
        return Refusal(reason: .rate, answer: answer)
    }

    /// The refusal of a request that a browser sends for a page of another origin; `nil` for all others.
    static func foreignOrigin(of call: Call, schemes: [String]) -> Refusal? {
        let host = call.host?.lowercased() ?? ""
        let origin = call.headers[.origin]?.lowercased()
        let isOwn = origin.map { origin in schemes.contains { origin == "\($0)://\(host)" } }
        guard let isOwn else { return foreignPart(call) }
        return isOwn ? nil : isForeign
    }

    /// The refusal of an image, a script or a request of a page of another origin; `nil` for all others.
    ///
    /// Browsers send no origin with images and scripts. A link that a person follows is no harm.
    static func foreignPart(_ call: Call) -> Refusal? {
        let site = call.headers[.fetchSite]
        let isPart = (site == "cross-site" || site == "same-site") && call.headers[.fetchMode] != "navigate"
        return isPart ? isForeign : nil
    }

    private static var isForeign: Refusal {
        Refusal(reason: .origin, answer: .error(403, "forbidden", "Pages of other origins get no answer."))
    }

    private func bearer(_ authorization: String?) -> Substring? {
        guard let authorization, authorization.prefix(7).lowercased() == "bearer " else { return nil }
        return authorization.dropFirst(7)
    }
}

/// The hosts that requests can name. The owner of any other name decides where it points, so a page of a browser could
/// reach the server by it (DNS rebinding).
package struct HostPolicy: Sendable {
    private let names: Set<String>

    /// - Parameters:
    ///   - own: The host that the server listens on; `nil` for a Unix socket.
    ///   - allowed: The names of `http.allowed_hosts`.
    package init(own: String?, allowed: [String]) {
        names = Set((allowed + [own ?? "localhost", "localhost"]).map(Self.normal))
    }

    /// The policy of the read-only server; `nil` for any host.
    ///
    /// Scrapers reach a server of the network by names that only the operator knows, so it checks names only if they are
    /// configured. On loopback a name can only come from this machine.
    static func readOnly(_ listen: ListenAddress, allowed: [String]) -> HostPolicy? {
        listen.isLoopback || !allowed.isEmpty ? HostPolicy(own: listen.host, allowed: allowed) : nil
    }

    /// Returns whether `host` is an address, `localhost`, the server's own host or an allowed one.
    package func allows(_ host: String) -> Bool {
        if host.hasPrefix("[") { return host.wholeMatch(of: /\[[0-9A-Fa-f:.]+\](:\d+)?/) != nil }
        // A user before the name, as in `localhost:80@example.org`, would make the name another one's.
        guard let parts = host.wholeMatch(of: /([^:@\/?#\s]*)(:\d{0,5})?/) else { return false }
        let name = Self.normal(String(parts.1))
        let labels = name.split(separator: ".", omittingEmptySubsequences: false)
        return labels.count == 4 && labels.allSatisfy { UInt8($0) != nil } || names.contains(name)
    }

    /// The name in lower case, without the dot of the root.
    private static func normal(_ name: String) -> String {
        (name.hasSuffix(".") ? String(name.dropLast()) : name).lowercased()
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
        var client: ClientNetwork
        /// Whether the request had a token or a password. A page of a browser can send requests without one from the same address, and
        /// must not make the others wait.
        var hasToken: Bool
        init(_ address: SocketAddress?, hasToken: Bool) {
            client = ClientNetwork(address)
            self.hasToken = hasToken
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
