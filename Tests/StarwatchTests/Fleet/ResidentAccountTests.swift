import StarwatchCore
import StarwatchTestKit
import Synchronization
import Testing

@testable import Starwatch

@Suite struct ResidentAccountTests {
    private final class Runtime: Sendable {}

    /// A visit and an operator's command can be at work together.
    @Test func whoWorkTogetherShareARuntimeUntilTheLastHasLeft() async {
        let left = Mutex(0)
        let residents = ResidentAccounts(make: { _ in Runtime() }, left: { _, _ in left.withLock { $0 += 1 } })
        let account = TestAccount.key
        await residents.with(account) { visit in
            await residents.with(account) { command in #expect(command === visit) }
            #expect(left.withLock { $0 } == 0)
            #expect(residents.runtime(of: account) === visit)
        }
        #expect(left.withLock { $0 } == 1)
        #expect(residents.runtime(of: account) == nil)
    }
}
