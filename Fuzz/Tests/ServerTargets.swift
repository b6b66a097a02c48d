import StarwatchCore
import StarwatchTransport

/// Data from the server.
extension FuzzTarget {
    private static let json = [
        "{", "}", "[", "]", ",", ":", "\"", "null", "true", "false", "1e999", "-0", "\\ud83d", "\\u0000", "[[[[[[[[",
        "{}",
    ]

    /// A page is read or refused; what is read is in order and of the right kind, and strictness only takes away.
    static let page = FuzzTarget(
        name: "page",
        words: json + [
            "\"data\":", "\"plan\":", "\"planSummary\":", "\"previousClaim\":", "\"jwtId\":", "\"handleId\":",
            "\"name\":",
            "\"hitLimit\":", "\"pagination\":", "\"hasMore\":", "\"nextAfterId\":", "\"01JWMCKG0022HDXJ4G4Q6CAFE9\"",
            "\"1704067200_CAFE99_0f1e2d3c\"", "\"fulfillsPlanHandleId\":", "\"startTime\":", "\"2026-01-01T12:00:00Z\"",
        ],
        tries: 800
    ) { input in
        for kind in [PollKind.starredProjects, .offersToMe] { _ = PageDecoder.detect(input, of: kind) }
        for dialect in Dialect.allCases {
            let strict = decode(input, dialect, .strict, quarantine: false)
            let lenient = decode(input, dialect, .lenient, quarantine: false)
            let picked = decode(input, dialect, .lenient, quarantine: true)
            if let strict, strict.changes != lenient?.changes { return "strictness changed what is read" }
            if let lenient, lenient != picked { return "quarantine changed a page that is good" }
            for page in [strict, lenient, picked].compactMap(\.self) {
                if page.changes.count + page.rejected != page.fetched { return "the counts do not add up" }
                if page.changes.contains(where: { $0.id.kind != dialect.idKind }) { return "an id of the other kind" }
                let ids = page.changes.map(\.id.rawValue)
                let isOrdered = zip(ids, ids.dropFirst()).allSatisfy { dialect.isDescending ? $0 >= $1 : $0 <= $1 }
                if !isOrdered { return "out of order" }
                let names = page.changes.compactMap(\.change.name)
                if names.contains(where: { $0.isEmpty || $0.utf8.count > 5000 }) {
                    return "a name that is empty or long"
                }
            }
        }
        return nil
    }

    private static func decode(
        _ input: [UInt8],
        _ dialect: Dialect,
        _ validation: Validation,
        quarantine: Bool
    ) -> Page? {
        try? PageDecoder(dialect: dialect, validation: validation, quarantine: quarantine).decode(input)
    }

    /// Any answer is a success or one failure. The input is a head, an empty line and a body; the head's first byte says
    /// which status.
    static let answer = FuzzTarget(
        name: "answer",
        words: json + [
            "Retry-After: ", "Date: ", "Sun, 06 Nov 1994 08:49:37 GMT", "\r\n", "\r\n\r\n", "\"error\":", "\"code\":",
            "\"message\":", "\"retryAfter\":", "JWT_VERIFY_FAILED", "9223372036854775808",
        ],
        tries: 6000
    ) { input in
        let statuses = [200, 204, 302, 304, 400, 401, 404, 429, 500, 503, 599, 999]
        let status = statuses[Int(input.first ?? 0) % statuses.count]
        let lines = Array(input.dropFirst())
        let end = lines.indices.first { lines[$0...].starts(with: [13, 10, 13, 10]) } ?? lines.endIndex
        let headers = HTTPHeaders(block: Array(lines[..<end]))
        let body = lines[end...].dropFirst(4)
        for name in ["Date", "X-Server-Time", "RateLimit", ""] { _ = headers[name] }
        let response = HTTPResponse(status: status, headers: headers, body: Array(body))
        let failure = response.failure(at: Timestamp(seconds: 1_767_225_600))
        if (failure == nil) != (status < 300 || status == 304) { return "a failure that is none, or the reverse" }
        if let wait = failure?.retryAfter, wait < .zero || wait > RetryAfter.longest { return "a wait of \(wait)" }
        return nil
    }

    /// A wait is neither negative nor endless, and a date that is read can be written and read again.
    static let httpDate = FuzzTarget(
        name: "http-date",
        words: [
            "Sun", "Sunday", "Nov", "GMT", ", ", " ", "-", ":", "06", "1994", "94", "08:49:37", "23:59:60", "0000",
            "9999",
            "99999999999999999999",
        ],
        tries: 20_000
    ) { input in
        let now = Timestamp(seconds: 1_767_225_600)
        let text = input.text
        for date in [nil, Timestamp(seconds: 0), Timestamp(seconds: 253_402_300_799)] {
            if let wait = RetryAfter.parse(text, answerDate: date, now: now), wait < .zero || wait > RetryAfter.longest
            {
                return "a wait of \(wait)"
            }
        }
        for now in [now, Timestamp(seconds: -62_167_219_200), Timestamp(seconds: 253_402_300_799)] {
            guard let time = HTTPDate.parse(text, now: now) else { continue }
            // The last second of the year 9999 may be a leap second, and then the year has five digits.
            guard time.seconds < 253_402_300_800, time.seconds >= -62_167_219_200 else { continue }
            if HTTPDate.parse(HTTPDate.format(time), now: now) != time { return "a date that does not come back" }
        }
        guard let time = Timestamp(iso8601: text) else { return nil }
        if time.seconds < 253_402_300_800, time.seconds >= -62_167_219_200, Timestamp(iso8601: time.iso8601) != time {
            return "a time that does not come back"
        }
        return nil
    }
}
