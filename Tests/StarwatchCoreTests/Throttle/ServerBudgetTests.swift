import StarwatchCore
import Testing

@Suite struct ServerBudgetTests {
    private let now = Timestamp(seconds: 1_767_225_600)

    @Test(
        arguments: [
            ("50", "30", nil, 50, 30), ("50", nil, nil, 50, nil), ("0", "1767225630", nil, 0, 30),
            ("0", "1767225630000", nil, 0, 30), ("0", "1767225000", nil, 0, 0), (" 7", "60 ", nil, 7, 60),
            (nil, nil, #""default";r=50;t=30"#, 50, 30), (nil, nil, #""a";r=50;t=30, "b";r=3;t=5"#, 3, 5),
            (nil, nil, "limit=100, remaining=9, reset=50", 9, 50), ("5", "10", #""default";r=50;t=30"#, 5, 10),
            ("5", "10", #""d";r=5;t=30"#, 5, 30),
        ] as [(String?, String?, String?, Int, Int?)]
    )
    func theTightestHeaderCounts(remaining: String?, reset: String?, rateLimit: String?, left: Int, after: Int?) {
        let budget = ServerBudget.read(remaining: remaining, reset: reset, rateLimit: rateLimit, now: now)
        #expect(budget == ServerBudget(remaining: left, resetAfter: after.map { .seconds($0) }))
    }

    @Test(arguments: [(nil, nil), ("", "5"), ("many", "5"), ("-1", "5"), (nil, "5")] as [(String?, String?)])
    func withoutARemainderThereIsNoBudget(remaining: String?, reset: String?) {
        #expect(ServerBudget.read(remaining: remaining, reset: reset, rateLimit: "nonsense", now: now) == nil)
    }

    @Test(
        arguments: [
            (11, 60, nil), (10, 55, 5000), (1, 60, 30_000), (0, 60, 60_000), (0, nil, 60_000), (0, 0, nil),
            (0, 999_999, 3_600_000),
        ] as [(Int, Int?, Int64?)]
    )
    func slowsDownBeforeTheBudgetIsSpent(remaining: Int, reset: Int?, wait: Int64?) {
        let budget = ServerBudget(remaining: remaining, resetAfter: reset.map { .seconds($0) })
        #expect(budget.notBefore(now: now) == wait.map { now + .milliseconds($0) })
    }

    @Test func waitsOnlyGetLonger() {
        var notBefore = NotBefore()
        #expect(notBefore.wait(at: now) == nil)
        notBefore.extend(to: now + .seconds(60), since: now)
        notBefore.extend(to: now + .seconds(5), since: now)
        #expect(notBefore == NotBefore(until: now + .seconds(60), since: now))
        notBefore.extend(to: now + .seconds(90), since: now)
        #expect(notBefore.wait(at: now + .seconds(30)) == .seconds(60))
        #expect(notBefore.wait(at: now + .seconds(90)) == nil)
    }

    /// The clock's step since the server asked for 60 s, and the remaining wait.
    @Test(arguments: [(0, 60), (-20, 40), (20, 60), (86_400, 60)])
    func aStoredWaitKeepsItsLength(behind: Int, left: Int) {
        let asked = NotBefore(until: now + .seconds(60), since: now)
        let current = now - .seconds(behind)
        let restored = NotBefore(restoring: now + .seconds(60), since: asked.since, now: current)
        #expect(restored.wait(at: current) == .seconds(left))
        let unknown = NotBefore(restoring: now + .seconds(60), since: nil, now: current)
        #expect(unknown.wait(at: current) == .seconds(60 + behind))
    }
}
