import StarwatchCore
import Testing

@Suite struct QuarantinePolicyTests {
    @Test(arguments: [
        (QuarantinePolicy.standard, [false, false, true, true]), (.atOnce, [true, true, true, true]),
        (.never, [false, false, false, false]),
    ])
    func theNthRefusalInARowSetsItemsAside(policy: QuarantinePolicy, isDue: [Bool]) {
        #expect((0..<4).map { policy.isDue(refusals: $0, validation: .lenient) } == isDue)
    }

    @Test func strictValidationWaitsForAPerson() {
        #expect(!QuarantinePolicy.standard.isDue(refusals: 100, validation: .strict))
        #expect(QuarantinePolicy.atOnce.isDue(refusals: 0, validation: .strict))
        #expect(QuarantinePolicy.standard.isNever(validation: .strict))
        #expect(!QuarantinePolicy.standard.isNever(validation: .lenient))
        #expect(QuarantinePolicy.never.isNever(validation: .lenient))
    }

    @Test(arguments: ["true", "false", "after 2", "after 3", "after 100"])
    func itIsReadAsItIsWritten(text: String) {
        #expect(QuarantinePolicy(text)?.description == text)
    }

    @Test(arguments: ["", "yes", "3", "after", "after 1", "after 0", "after -1", "after 101", "after x"])
    func anythingElseIsNoPolicy(text: String) {
        #expect(QuarantinePolicy(text) == nil)
    }
}
