import Foundation
import StarwatchCore
import StarwatchStore
import StarwatchTestKit
import StarwatchTransport
import Synchronization
import Testing

@testable import StarwatchPolling

/// Server waits survive restarts, store failures and clock steps.
@Suite final class ServerWaitTests: GateBench {
    private final class BusyTwice: Sendable {
        private let left = Mutex(2)

        func strikes() -> Bool {
            left.withLock { left in
                left -= 1
                return left >= 0
            }
        }

        func strikeAgain() { left.withLock { $0 = 2 } }
    }

    @Test func aClockThatIsSetBackDoesNotProlongAWait() async throws {
        let start = ManualClock.start
        let gate = makeGate()
        await gate.hold(until: start + .seconds(60), now: start)
        for _ in 0..<5 { await gate.end(.network, now: start) }
        #expect(await !gate.isReady(now: start))
        await gate.shift(by: .seconds(-7200))
        let now = start + .seconds(-7200 + 60)
        #expect(try await gate.admit(account: TestAccount.key, now: now) == .go)
        #expect(await gate.isReady(now: now))
        // Nor after a restart.
        let next = makeGate()
        try await next.restore(now: now)
        #expect(try await next.admit(account: TestAccount.key, now: now) == .go)
        await store.close()
    }

    @Test func aWaitThatCouldNotBeStoredIsStoredAfterTheCycle() async throws {
        let fault = BusyTwice()
        var options = StoreOptions(path: folder.path("busy.db"))
        options.interrupt = { (operation, moment) throws(StoreError) in
            if operation == .server, moment == .begun, fault.strikes() { throw StoreError.busy }
        }
        let store = try Store(options)
        let start = ManualClock.start
        let gate = makeGate(on: store)
        await gate.hold(until: start + .seconds(300), now: start)
        await gate.end(nil, now: start)
        #expect(try await store.servers.state(server).notBefore == nil)
        await gate.end(nil, now: start)
        #expect(try await store.servers.state(server).notBefore == start + .seconds(300))
        // The same, where the wait moves with a clock that is set.
        fault.strikeAgain()
        await gate.shift(by: .seconds(3600))
        #expect(try await store.servers.state(server).notBefore == start + .seconds(300))
        for _ in 0..<2 { await gate.end(nil, now: start + .seconds(3600)) }
        #expect(try await store.servers.state(server).notBefore == start + .seconds(3900))
        #expect(try await store.servers.state(server).notBeforeSet == start + .seconds(3600))
        await store.close()
    }

    @Test func aStoredWaitOfYearsIsCappedToo() async throws {
        let start = ManualClock.start
        try await store.servers.setNotBefore(
            NotBefore(until: start + .seconds(999_999_999), since: start),
            server: server
        )
        let gate = makeGate()
        try await gate.restore(now: start)
        #expect(await gate.hold(now: start)?.until == start + .seconds(7 * 86_400))
        await store.close()
    }

    @Test func anEndOfTheWaitThatCannotBeStoredIsAnError() async throws {
        let fault = BusyTwice()
        var options = StoreOptions(path: folder.path("busy.db"))
        options.interrupt = { (operation, moment) throws(StoreError) in
            if operation == .server, moment == .begun, fault.strikes() { throw StoreError.busy }
        }
        let store = try Store(options)
        let gate = makeGate(on: store)
        await #expect(throws: StoreError.self) { try await gate.clearWait(now: ManualClock.start) }
        await store.close()
    }

    @Test func withoutTheStoreNothingGoes() async throws {
        let fault = StoreFault()
        var options = StoreOptions(path: folder.path("fault.db"))
        options.interrupt = fault.interrupt
        let store = try Store(options)
        let start = ManualClock.start
        let wait = NotBefore(until: start + .seconds(600), since: start)
        let elsewhere = "http://127.0.0.2"
        try await store.servers.setNotBefore(wait, server: elsewhere)
        let own = makeGate(on: store)
        let other = Gate(origin: elsewhere, requestsPerMinute: 10, store: store)
        fault.fail(.read, .finishCycle)
        await #expect(throws: StoreError.busy) { try await own.admit(account: TestAccount.key, now: start) }
        await #expect(throws: StoreError.busy) { try await other.admit(now: start) }
        fault.fail(.finishCycle)
        await #expect(throws: StoreError.busy) { try await own.admit(account: TestAccount.key, now: start) }
        #expect(try await other.admit(now: start) == wait.until)
        await store.close()
    }

    /// A wait of before the clock was set, to a server that is gone to only after it.
    @Test func anotherServersWaitIsMovedByAClockThatWasSetBefore() async throws {
        let start = ManualClock.start
        try await store.servers.setNotBefore(NotBefore(until: start + .seconds(600), since: start), server: server)
        let gate = Gate(origin: server, requestsPerMinute: 10, store: store, jumps: .seconds(3600))
        #expect(try await gate.admit(now: start + .seconds(3660)) == start + .seconds(4200))
        #expect(try await gate.admit(now: start + .seconds(4200)) == nil)
        await store.close()
    }

    @Test func aClockThatIsSetTakesAWaitAlongWithoutADatabase() async throws {
        let start = ManualClock.start
        let gate = Gate(origin: server, requestsPerMinute: 10, store: nil, jumps: .seconds(60))
        await gate.hold(until: start + .seconds(600), now: start)
        await gate.shift(by: .seconds(3600))
        #expect(try await gate.admit(now: start + .seconds(3660)) == start + .seconds(4200))
        #expect(try await gate.admit(now: start + .seconds(4200)) == nil)
        await store.close()
    }

    /// The same, for the way to another server, which is not gone before the clock is set.
    @Test func aClockThatIsSetBackDoesNotReviveAnotherServersWait() async throws {
        let start = ManualClock.start
        try await store.servers.setNotBefore(NotBefore(until: start, since: start), server: server)
        let gate = Gate(origin: server, requestsPerMinute: 10, store: store)
        await gate.shift(by: .seconds(-7200))
        #expect(try await gate.admit(now: start + .seconds(-7200 + 61)) == nil)
        await store.close()
    }

    /// A request that an account made an hour ahead says nothing of a wait that was asked for under the right clock.
    @Test func aWaitFromAClockThatWasAheadIsAsLongAsItWasAskedFor() async throws {
        let start = ManualClock.start
        let ahead = start + .seconds(7200)
        #expect(try await makeGate().admit(account: TestAccount.other, now: ahead) == .go)
        let gate = makeGate()
        await gate.hold(until: ahead + .seconds(300), now: ahead)
        for _ in 0..<2 {
            let next = makeGate()
            try await next.restore(now: start)
            #expect(await next.hold(now: start)?.until == start + .seconds(300))
        }
        let other = Gate(origin: server, requestsPerMinute: 10, store: store)
        #expect(try await other.admit(now: start + .seconds(1)) == start + .seconds(301))
        // Until it is over it may be the clock of now that is wrong.
        #expect(try await store.servers.state(server).notBefore == ahead + .seconds(300))
        #expect(try await other.admit(now: start + .seconds(301)) == nil)
        #expect(try await store.servers.state(server).notBefore == start + .seconds(301))
        await makeGate().hold(until: start + .seconds(900), now: start)
        let last = makeGate()
        try await last.restore(now: start + .seconds(60))
        #expect(await last.hold(now: start + .seconds(60))?.until == start + .seconds(900))
        await store.close()
    }

    /// The same, where another server is gone to for the first time after the clock was set, and after that again.
    @Test func anotherServersWaitIsNotMovedTwice() async throws {
        let start = ManualClock.start
        let ahead = start + .seconds(7200)
        let wait = NotBefore(until: ahead + .seconds(300), since: ahead)
        try await store.servers.setNotBefore(wait, server: server)
        let gate = Gate(origin: server, requestsPerMinute: 10, store: store)
        await gate.shift(by: .seconds(-3600))
        let until = start + .seconds(301 - 3600)
        #expect(try await gate.admit(now: start - .seconds(3599)) == until)
        let next = Gate(origin: server, requestsPerMinute: 10, store: store)
        #expect(try await next.admit(now: start - .seconds(3599)) == until)
        await store.close()
    }

    /// It was over when the agent started, and would lie in the future of the next one.
    @Test func aClockThatIsSetBackDoesNotReviveAWait() async throws {
        let start = ManualClock.start
        try await store.servers.setNotBefore(NotBefore(until: start, since: start), server: server)
        let gate = makeGate()
        try await gate.restore(now: start + .seconds(60))
        await gate.shift(by: .seconds(-7200))
        let now = start + .seconds(-7200 + 61)
        let next = makeGate()
        try await next.restore(now: now)
        #expect(await next.hold(now: now)?.until == nil)
        await store.close()
    }
}
