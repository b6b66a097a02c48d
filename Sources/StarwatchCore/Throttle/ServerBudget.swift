/// The remaining rate limit that the server reports.
public struct ServerBudget: Sendable, Hashable {
    /// The number of requests left; `nil` if unknown.
    public let remaining: Int?
    /// The time until the budget is renewed; `nil` if unknown.
    public let resetAfter: Duration?

    public init(remaining: Int?, resetAfter: Duration?) {
        self.remaining = remaining
        self.resetAfter = resetAfter
    }

    /// The longest suggested wait: an hour. A later reset is more likely a mistake than a promise.
    public static let longestWait = Duration.seconds(3600)

    /// Reads the headers of an answer and returns the tightest budget.
    ///
    /// - Parameters:
    ///   - remaining: `X-Rate-Limit-Remaining` or `RateLimit-Remaining`.
    ///   - reset: `X-Rate-Limit-Reset` or `RateLimit-Reset`: seconds from now, or Unix seconds or milliseconds.
    ///   - rateLimit: `RateLimit`, such as `"default";r=50;t=30` or `limit=100, remaining=50, reset=30`.
    ///   - answerDate: The answer's `Date`, the reference for a reset time; `nil` uses `now`.
    /// - Returns: `nil` if no header contains the number of requests left.
    public static func read(
        remaining: String?,
        reset: String?,
        rateLimit: String? = nil,
        answerDate: Timestamp? = nil,
        now: Timestamp
    ) -> ServerBudget? {
        var budgets: [ServerBudget] = []
        if let value = remaining.flatMap(number) {
            let reset = reset.flatMap(number).map { wait($0, from: answerDate ?? now) }
            budgets.append(ServerBudget(remaining: value, resetAfter: reset))
        }
        if let rateLimit { budgets += parse(rateLimit) }
        return budgets.min { a, b in
            (a.remaining ?? .max, b.resetAfter ?? .zero) < (b.remaining ?? .max, a.resetAfter ?? .zero)
        }
    }

    /// The earliest time for the next request that keeps within the budget; `nil` if the budget is ample.
    ///
    /// With nothing left, it is the reset, or 60 s from now if the reset is unknown. With at most 10 requests left,
    /// they are spread over the time until the reset.
    public func notBefore(now: Timestamp) -> Timestamp? {
        guard let remaining, remaining <= 10 else { return nil }
        let reset = min(Self.longestWait, max(.zero, resetAfter ?? .seconds(60)))
        let wait = remaining <= 0 ? reset : reset / (remaining + 1)
        return wait > .zero ? now + wait : nil
    }

    private static func number(_ text: String) -> Int? {
        let digits = text.utf8.filter { $0 != 0x20 && $0 != 0x09 }
        guard !digits.isEmpty, digits.allSatisfy(\.isDigit) else { return nil }
        return Int(String(decoding: digits, as: UTF8.self)) ?? .max
    }

    private static func wait(_ reset: Int, from date: Timestamp) -> Duration {
        switch reset {
        case ..<1_000_000_000: .seconds(reset)
        case ..<100_000_000_000: max(.zero, Timestamp(seconds: Int64(reset)) - date)
        case ..<100_000_000_000_000: max(.zero, Timestamp(milliseconds: Int64(reset)) - date)
        default: longestWait
        }
    }

    private static func parse(_ rateLimit: String) -> [ServerBudget] {
        // With ';' each element is one policy. In the older form ',' separates the fields of one policy.
        let isOld = !rateLimit.contains(";")
        return (isOld ? [Substring(rateLimit)] : rateLimit.split(separator: ",")).compactMap { element in
            var remaining: Int?
            var reset: Int?
            for field in element.split(separator: isOld ? "," : ";") {
                let pair = field.split(separator: "=", maxSplits: 1).map { String($0.filter { $0 != " " }) }
                guard pair.count == 2 else { continue }
                switch pair[0].lowercased() {
                case "r", "remaining": remaining = number(pair[1])
                case "t", "reset": reset = number(pair[1])
                default: break
                }
            }
            guard let remaining else { return nil }
            return ServerBudget(remaining: remaining, resetAfter: reset.map { .seconds(min($0, Int(Int32.max))) })
        }
    }
}
