import StarwatchCore
import StarwatchStore
import StarwatchTestKit
import Testing

@testable import StarwatchPolling

/// Requests that the stored window counts before they go.
@Suite final class StoredAheadTests: GateBench {
    /// The store deletes windows of accounts that sent nothing for a day.
    @Test func requestsThatWereStoredAheadLongAgoAreStoredAgain() async throws {
        let start = ManualClock.start
        let gate = try await gateOfKnownAccount(requests: 100)
        #expect(try await gate.pass(account: TestAccount.key, now: start) == .go)
        _ = try await store.retention.apply(RetentionPolicy(), now: start + .days(2))
        #expect(try await store.polls.requestWindow(of: TestAccount.key) == nil)
        #expect(try await gate.pass(account: TestAccount.key, now: start + .days(2)) == .go)
        #expect(try await store.polls.requestWindow(of: TestAccount.key) != nil)
        await store.close()
    }

    @Test func anErasedWindowIsNotStoredAgainWithoutARequest() async throws {
        let start = ManualClock.start
        let gate = try await gateOfKnownAccount(requests: 100)
        #expect(try await gate.pass(account: TestAccount.key, now: start) == .go)
        #expect(try await store.polls.requestWindow(of: TestAccount.key) != nil)
        _ = try await store.retention.apply(RetentionPolicy(), now: start + .days(2))
        await gate.shift(by: .seconds(5), now: start + .seconds(5))
        await gate.storeEnds(now: start + .seconds(6))
        #expect(try await store.polls.requestWindow(of: TestAccount.key) == nil)
        await store.close()
    }

    @Test(arguments: [(5, 5), (19, 7), (100, 1), (100, 94), (100, 95), (100, 100)], [true, false])
    func neitherACrashNorAnEndLetsMoreThrough(_ requests: (limit: Int, sent: Int), isCrash: Bool) async throws {
        let (limit, sent) = requests
        let start = ManualClock.start
        let gate = try await gateOfKnownAccount(requests: limit)
        for _ in 0..<sent { #expect(try await gate.pass(account: TestAccount.key, now: start) == .go) }
        if !isCrash { await gate.storeEnds(now: start) }
        let next = makeGate(requests: limit)
        var more = 0
        while more <= limit, try await next.pass(account: TestAccount.key, now: start + .seconds(1)) == .go {
            more += 1
        }
        if isCrash {
            #expect((limit - limit / 20...limit).contains(sent + more))
        } else {
            #expect(sent + more == limit)
        }
        await store.close()
    }

    /// A gate, with an account in the store: others have no window there.
    private func gateOfKnownAccount(requests: Int) async throws -> Gate {
        let stream = StreamKey(account: TestAccount.key, server: server, poll: PollName("starred_projects")!)
        _ = try await store.polls.state(stream, maxUndelivered: 1)
        return makeGate(requests: requests)
    }
}
