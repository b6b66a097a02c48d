import StarwatchCore

@testable import StarwatchTransport

extension FuzzTarget {
    /// A token that was made elsewhere is taken apart or refused; what is read of it does not depend on who looks.
    static let token = FuzzTarget(
        name: "token",
        words: [
            ".", "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9", "eyJleHAiOjE3Njc4ODY0MDB9", "eyJleHAiOjFlMzA5fQ",
            "eyJhdWQiOlsiYSIsImIiXX0", "eyJpc3MiOiJkaWQ6a2V5OnoifQ", "AAAA", "====", "-_", "+/",
        ],
        tries: 8000
    ) { input in
        let text = input.text
        let peeked = CompactJWT.peek(text)
        if let exp = peeked?.exp { _ = Timestamp(numericDate: exp) }
        guard let parsed = CompactJWT.parse(text) else { return nil }
        guard let peeked else { return "taken apart and not looked into" }
        // The signed part is exactly what is sent; otherwise nobody could verify it.
        if !text.utf8.starts(with: (parsed.signingInput + ".").utf8) { return "another signing input" }
        if parsed.payload.exp != peeked.exp || parsed.payload.iss != peeked.iss { return "another payload" }
        return nil
    }
}
