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

/// The access check of the control API over TCP. The Unix socket has none, because its file mode decides.
///
/// It requires a bearer token and never a cookie, which a page in a browser could use. A client that was refused too
/// often has to wait, and its token is not checked meanwhile.
final class AccessPolicy: Sendable {
    /// Reads the token. Called for every request, so that a changed file takes effect at once.
    private let token: @Sendable () async throws -> String
    private let now: @Sendable () -> Duration
    private let refusals = Mutex(RefusalCount())

    /// - Parameter now: A monotonic time.
    init(token: @escaping @Sendable () async throws -> String, now: @escaping @Sendable () -> Duration) {
        self.token = token
        self.now = now
    }

    /// The refusal of a request without the token; `nil` if it has the token.
    func refusal(of call: Call, from address: SocketAddress?) async -> Refusal? {
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
        if let given, !expected.isEmpty, Self.isEqual(Array(given.utf8), Array(expected.utf8)) { return nil }
        var answer = Answer.error(401, "unauthorized", "Send the control token as a bearer token.")
        answer.headers[.wwwAuthenticate] = "Bearer"
        return count(Refusal(reason: .token, answer: answer), key)
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

    /// Compares in constant time, so that the time does not reveal the first wrong byte. It does reveal the length.
    static func isEqual(_ a: [UInt8], _ b: [UInt8]) -> Bool {
        guard a.count == b.count else { return false }
        var difference: UInt8 = 0
        for i in a.indices { difference |= a[i] ^ b[i] }
        return difference == 0
    }
}
