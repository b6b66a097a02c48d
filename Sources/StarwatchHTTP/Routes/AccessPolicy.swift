import Hummingbird
import Starwatch

/// The access check of the control API over TCP. The Unix socket has none, because its file mode decides.
///
/// It requires a bearer token and never a cookie, which a page in a browser could use.
struct AccessPolicy: Sendable {
    /// Reads the token. Called for every request, so that a changed file takes effect at once.
    var token: @Sendable () async throws -> String
    /// The refusal of a request without the token; `nil` if it has the token.
    func refusal(of call: Call) async -> Answer? {
        let expected: String
        do {
            expected = try await token()
        } catch {
            return .error(500, "failed", "The control token cannot be read; check control.token_file.")
        }
        let given = bearer(call.headers[.authorization])
        if let given, !expected.isEmpty, Self.isEqual(Array(given.utf8), Array(expected.utf8)) { return nil }
        var answer = Answer.error(401, "unauthorized", "Send the control token as a bearer token.")
        answer.headers[.wwwAuthenticate] = "Bearer"
        return answer
    }

    /// The refusal of a request that a browser sends for a page of another origin; `nil` for all others.
    static func foreignOrigin(of call: Call, schemes: [String]) -> Answer? {
        guard let origin = call.headers[.origin]?.lowercased() else { return nil }
        let host = call.host?.lowercased() ?? ""
        if schemes.contains(where: { origin == "\($0)://\(host)" }) { return nil }
        return .error(403, "forbidden", "The control API does not answer pages of other origins.")
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
