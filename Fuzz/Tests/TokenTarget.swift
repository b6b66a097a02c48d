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
        let claims = CompactJWT.peek(text)
        if let exp = claims?.exp { _ = Timestamp(numericDate: exp) }
        // A server reads the part between the first two dots; the issuer must be found nowhere else.
        if claims != nil,
            CompactJWT.peek("x." + text.split(separator: ".", omittingEmptySubsequences: false)[1] + ".y")?.iss
                != claims?.iss
        {
            return "another payload"
        }
        _ = CompactJWT.kid(of: text)
        return nil
    }
}
