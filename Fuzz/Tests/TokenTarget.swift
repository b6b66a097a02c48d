import StarwatchCore

@testable import StarwatchTransport

extension FuzzTarget {
    /// A token that was made elsewhere is read or refused.
    static let token = FuzzTarget(
        name: "token",
        words: [
            ".", "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9", "eyJleHAiOjE3Njc4ODY0MDB9", "eyJleHAiOjFlMzA5fQ",
            "eyJhdWQiOlsiYSIsImIiXX0", "eyJpc3MiOiJkaWQ6a2V5OnoifQ", "AAAA", "====", "-_", "+/",
        ],
        tries: 8000
    ) { input in
        let text = input.text
        if let exp = CompactJWT.peek(text)?.exp { _ = Timestamp(numericDate: exp) }
        return nil
    }
}
