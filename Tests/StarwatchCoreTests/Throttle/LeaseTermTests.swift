import StarwatchCore
import Testing

/// The owner of a lease stops before another one can claim it.
@Suite struct LeaseTermTests {
    @Test func aLeaseOfThirtySecondsIsUsedForTwenty() {
        let term = LeaseTerm(from: .seconds(1000))
        #expect(LeaseTerm.length == .seconds(30))
        #expect(!term.isOver(at: .seconds(1000)))
        #expect(!term.isOver(at: .milliseconds(1_019_999)))
        #expect(term.isOver(at: .seconds(1020)))
    }
}
