import Hummingbird
import Starwatch

/// The access check of the control API over TCP. The Unix socket has none, because its file mode decides.
///
/// It requires a bearer token and never a cookie, which a page in a browser could use. It also checks `Host` and
/// `Origin`, against pages whose name resolves to this machine.
struct AccessPolicy: Sendable {
    /// The host name of `control.listen`, which `Host` can contain beside addresses and `localhost`.
    var host: String
    /// Reads the token. Called for every request, so that a changed file takes effect at once.
    var token: @Sendable () async throws -> String

    /// The answer to a caller without access; `nil` for a caller with access.
    func refusal(of call: Call) async -> Answer? {
        guard let named = call.host, isAllowed(host: named) else {
            return .error(403, "forbidden", "The Host header must be an address, localhost, or control.listen's host.")
        }
        if let refusal = Self.foreignOrigin(of: call, schemes: ["http"]) { return refusal }
        let expected: String
        do {
            expected = try await token()
        } catch {
            return .error(500, "failed", "The control token cannot be read; check control.token_file.")
        }
        guard let given = bearer(call.headers[.authorization]), !expected.isEmpty,
            Self.isEqual(Array(given.utf8), Array(expected.utf8))
        else {
            var answer = Answer.error(401, "unauthorized", "Send the control token as a bearer token.")
            answer.headers[.wwwAuthenticate] = "Bearer"
            return answer
        }
        return nil
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

    /// Returns whether `Host` is `localhost`, our own host or an address. The owner of any other name decides where it
    /// points.
    private func isAllowed(host named: String) -> Bool {
        if named.hasPrefix("[") { return named.wholeMatch(of: /\[[0-9A-Fa-f:.]+\](:\d+)?/) != nil }
        let name = (named.split(separator: ":", omittingEmptySubsequences: false).first ?? "").lowercased()
        let parts = name.split(separator: ".", omittingEmptySubsequences: false)
        let isAddress = parts.count == 4 && parts.allSatisfy { UInt8($0) != nil }
        return isAddress || name == "localhost" || name == host.lowercased()
    }

    /// Compares in constant time, so that the time does not reveal the first wrong byte. It does reveal the length.
    static func isEqual(_ a: [UInt8], _ b: [UInt8]) -> Bool {
        guard a.count == b.count else { return false }
        var difference: UInt8 = 0
        for i in a.indices { difference |= a[i] ^ b[i] }
        return difference == 0
    }
}
