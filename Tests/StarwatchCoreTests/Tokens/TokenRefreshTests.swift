import StarwatchCore
import Testing

@Suite struct TokenRefreshTests {
    private let now = Timestamp(seconds: 1_767_225_600)

    @Test(
        arguments: [
            (3600, 600, 601, false), (3600, 600, 600, true), (60, 600, 31, false), (60, 600, 30, true),
            (3600, 0, 1, false),
            (3600, 600, -5, true),
        ] as [(Int64, Int64, Int64, Bool)]
    )
    func isDueByTheSmallerOfMarginAndHalfLife(lifetime: Int64, before: Int64, left: Int64, due: Bool) {
        #expect(
            TokenRefresh.isDue(
                expiresAt: now + .seconds(left),
                now: now,
                lifetime: .seconds(lifetime),
                refreshBefore: .seconds(before)
            )
                == due
        )
    }

    @Test func theValidTokenThatExpiresFirstIsUsed() {
        func choose(_ seconds: [Int64?], margin: Duration = .zero) -> Int64?? {
            TokenRefresh.soonestToExpire(of: seconds, now: now, margin: margin) { $0.map { now + .seconds($0) } }
        }
        #expect(choose([500, 100, 0, -5, 300]) == 100)
        #expect(choose([500, 100], margin: .seconds(100)) == 500)
        #expect(choose([nil, 500]) == 500)
        #expect(choose([nil, -500]) == .some(nil))
        #expect(choose([-1, 0]) == nil)
        #expect(choose([]) == nil)
    }
}
