/// What the server says is left of its rate limit.
public struct ServerBudget: Sendable, Hashable {
    /// Requests that may still be made; `nil` when the server did not say.
    public let remaining: Int?
    /// How long until the budget is renewed; `nil` when the server did not say.
    public let resetAfter: Duration?

    public init(remaining: Int?, resetAfter: Duration?) {
        self.remaining = remaining
        self.resetAfter = resetAfter
    }

    /// The longest wait it suggests: an hour. A reset further ahead is more likely a mistake than a promise.
    public static let longestWait = Duration.seconds(3600)

    /// Reads the headers of an answer; the tightest of those that are there.
    ///
    /// - Parameters:
    ///   - remaining: `X-Rate-Limit-Remaining` or `RateLimit-Remaining`.
    ///   - reset: `X-Rate-Limit-Reset` or `RateLimit-Reset`: seconds from now, or Unix seconds or milliseconds.
    ///   - rateLimit: `RateLimit`, as `"default";r=50;t=30` or as `limit=100, remaining=50, reset=30`.
    ///   - answerDate: The answer's `Date`, against which a point in time is taken; `nil`: `now`.
    /// - Returns: `nil` when no header says how much remains.
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

    /// The earliest time for the next request, such that the budget lasts; `nil` when there is plenty.
    ///
    /// With nothing left, that is the reset (60 s when the server does not say when). With 10 requests or fewer,
    /// the time to the reset is shared out among them.
    public func notBefore(now: Timestamp) -> Timestamp? {
        guard let remaining, remaining <= 10 else { return nil }
        let reset = min(Self.longestWait, max(.zero, resetAfter ?? .seconds(60)))
        let wait = remaining <= 0 ? reset : reset / (remaining + 1)
        return wait > .zero ? now + wait : nil
    }

    private static func number(_ text: String) -> Int? {
        let digits = text.filter { $0 != " " && $0 != "\t" }
        guard !digits.isEmpty, digits.utf8.allSatisfy({ (48...57).contains($0) }) else { return nil }
        return Int(digits) ?? .max
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
        // One policy an element with ';', or the older form, in which ',' separates the fields of one policy.
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
