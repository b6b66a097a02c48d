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
/// was refused too often is told to wait. The right token or password lets in whoever shares its address all the same. Only
/// a client with more connections than passwords can wait delays others of its own address, and no other.
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
        var answer = Answer.error(401, "unauthorized", "Send the control token as a bearer token.")
        answer.headers[.wwwAuthenticate] = "Bearer"
        let refusal = Refusal(reason: .token, answer: answer)
        guard let given = bearer(call.headers[.authorization]) else {
            return counted(refusal, RefusalCount.Key(address, hasToken: false))
        }
        let expected: String
        do {
            expected = try await token()
        } catch {
            let text = "The control token cannot be read; check control.token_file."
            return Refusal(reason: nil, answer: .error(500, "failed", text))
        }
        if !expected.isEmpty, SecretText.isEqual(Array(given.utf8), Array(expected.utf8)) { return nil }
        return counted(refusal, RefusalCount.Key(address, hasToken: true))
    }

    private func refusal(
        of call: Call,
        from address: SocketAddress?,
        _ check: PasswordCheck,
        among users: [String: String]
    ) async -> Refusal? {
        if users.isEmpty { return nil }
        var answer = Answer.error(
            401,
            "unauthorized",
            "Send a user name and its password with HTTP basic authentication."
        )
        answer.headers[.wwwAuthenticate] = "Basic realm=\"starwatch\", charset=\"UTF-8\""
        let refusal = Refusal(reason: .password, answer: answer)
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
