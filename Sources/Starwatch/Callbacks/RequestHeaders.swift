import StarwatchPolling
import StarwatchTransport

/// The headers of requests whose URL the configuration names.
enum RequestHeaders {
    static func of(_ fetch: FetchOptions, token: AccessToken?) -> [(name: String, value: String)] {
        var headers: [(name: String, value: String)] = [("User-Agent", AgentVersion.userAgent)]
        if fetch.body != nil || fetch.method == .post { headers.append(("Content-Type", "application/json")) }
        headers += fetch.headers.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
        if let token { headers.append(("Authorization", "Bearer " + token.rawValue)) }
        return headers
    }
}

extension AccessToken {
    /// Reads the token of a `token_file`.
    init(file: SecretFile) throws(TokenError) {
        var file = file
        self.init(rawValue: String(decoding: try file.read(), as: UTF8.self), expiresAt: nil)
    }
}
