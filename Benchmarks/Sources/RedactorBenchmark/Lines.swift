/// Lines as the agent writes them.
enum Lines {
    /// Patterns of the values to redact that occur in the lines.
    static let patterns = [
        #"(?i)did(:|%3a)[a-z0-9]+(:|%3a)[A-Za-z0-9._:%#/-]+"#,
        #"\b[0-9A-HJKMNP-TV-Z]{26}\b"#, #"\b[0-9]{10}_[A-Za-z0-9]{6}_[a-f0-9]{8}\b"#,
        #"(?i)bearer\s+[A-Za-z0-9._~+/=-]+"#, #"eyJ[A-Za-z0-9_-]{7,}\.[A-Za-z0-9._-]+"#, #"://[^/?#"<>\\\s]+@"#,
        #"(?i)\b(access_?token|token|secret|key|password|jwt|api_?key)=[^&"'<>\\\s]+"#,
        #"(?i)"(active|account|issuer|agent)_?did"\s*:\s*"[^"]+""#,
    ]

    private static let secrets = [
        "did:ethr:0xF3beAC30C498D9E26865F34fCAa57dBB935b0D74", "01JWMCKG0022HDXJ4G4Q6ABCDE",
        "1704067200_abC123_0f1e2d3c", "Bearer 0123456789abcdef", "eyJhbGciOiJFUzI1NksifQ.eyJpc3MiOiJkaWQ.c2lnbmF0dXJl",
        "https://user:password@host/", "did%3Akey%3Az6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK",
        "https://host/path?access_token=0123456789",
    ]

    static func secret(_ number: Int) -> String { secrets[number % secrets.count] }

    static func json(_ number: Int, _ secret: String?) -> String {
        let (head, run) = head(number)
        let error = secret.map { ",\"error\":\"The server said: \($0).\"" }
        let start = "{\"timestamp\":\"\(head)\",\"level\":"
        switch number % 4 {
        case 0:
            return start + "\"DEBUG\",\"event\":\"poll.unchanged\",\"run_id\":\"\(run)\",\"change_count\":0,"
                + "\"duration_ms\":\(number % 97)\(error ?? ""),"
                + "\"metadata\":{\"outcome\":\"unchanged\",\"poll\":\"starred_projects\"}}\n"
        case 1:
            return start + "\"INFO\",\"event\":\"notification.delivered\",\"run_id\":\"\(run)\",\"change_count\":3"
                + "\(error ?? ""),"
                + "\"metadata\":{\"notification_id\":\"ntf_\(run.dropFirst(4))\(run.dropFirst(4))\",\"poll\":\"offers_to_me\"}}\n"
        case 2:
            return start
                + "\"WARN\",\"event\":\"poll.failed\",\"run_id\":\"\(run)\",\"change_count\":0,\"duration_ms\":30002"
                + (error ?? ",\"error\":\"The server did not answer in time.\"")
                + ",\"metadata\":{\"outcome\":\"failed\",\"poll\":\"starred_projects\"}}\n"
        default:
            return start + "\"DEBUG\",\"event\":\"api.failure\",\"run_id\":\"\(run)\""
                + (error ?? ",\"error\":\"The connection to https://api.endorser.ch/api/v2 was reset.\"")
                + ",\"metadata\":{\"attempt\":\(number % 5),\"endpoint\":\"plans_changed\",\"result\":\"server_error\"}}\n"
        }
    }

    static func text(_ number: Int, _ secret: String?) -> String {
        let (head, run) = head(number)
        let error = secret.map { "The server said: \($0)." } ?? "The server did not answer in time."
        return "\(head) WARN  poll.failed              outcome=failed poll=starred_projects change_count=0 "
            + "duration_ms=\(number % 97) error=\"\(error)\" run_id=\(run)\n"
    }

    private static func head(_ number: Int) -> (time: String, run: String) {
        let digits = String(number % 1000 + 1000).dropFirst()
        let hex = String(UInt64(number) &* 0x9E37_79B9_7F4A_7C15 | 1 << 63, radix: 16)
        return ("2026-11-21T06:13:\(number % 50 + 10).\(digits)Z", "run_\(hex)")
    }
}
