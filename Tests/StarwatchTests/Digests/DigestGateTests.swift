import MockEndorser
import StarwatchCore
import Testing

@testable import Starwatch

/// A digest whose content is the agent's own server's keeps that server's limits.
@Suite struct DigestGateTests {
    @Test func whatTheServerAskedOfAPollBindsADigest() async throws {
        try await DigestBench.run { (bench: Bench) async throws in
            await bench.settle()
            #expect(bench.contentRequests.count == 1)
            bench.mock.script(.rateLimited(retryAfter: .seconds(7200)), at: .plansChanged)
            await bench.poll()
            bench.move(to: "12:55")
            await bench.settle()
            #expect(bench.contentRequests.count == 1)
            #expect(bench.count(.refused) == 1)
            // Previously stored content is still shown.
            await bench.show(at: "13:00")
            #expect(bench["phone"].seen.first?.body == "3 new for Ada (as of 2026-01-01 12:00)")
        }
    }

    @Test func whatTheServerAskedOfADigestBindsThePolls() async throws {
        try await DigestBench.run { (bench: Bench) async throws in
            bench.mock.script(.rateLimited(retryAfter: .seconds(600)), at: .content)
            await bench.settle()
            #expect(bench.contentRequests.count == 1)
            let until = ManualClock.start + .seconds(600)
            #expect(await bench.agent.runtime.account.gate.hold(now: bench.clock.now)?.until == until)
            await bench.poll()
            #expect(bench.mock.requests(to: .plansChanged).isEmpty)
            try await bench.restart()
            #expect(await bench.agent.runtime.account.gate.hold(now: bench.clock.now)?.until == until)
        }
    }

    @Test func aDigestWaitsForItsTurnUntilItsTimeComes() async throws {
        try await DigestBench.run { (bench: Bench) async throws in
            await bench.settle()
            bench.move(to: "12:55")
            bench.mock.script(.rateLimited(retryAfter: .seconds(240)), at: .plansChanged)
            await bench.poll()
            let digests = bench.digests
            let fetch = try #require(await digests.pass().fetches.first)
            async let outcome = digests.fetch(fetch)
            await bench.clock.sleepers(atLeast: 1)
            bench.move(to: "12:59")
            #expect(await outcome == .notModified)
            #expect(bench.contentRequests.count == 2)
        }
    }

    @Test(.timeLimit(.minutes(5))) func aDigestsRequestCountsAsOneOfTheIdentitys() async throws {
        try await DigestBench.run(options: { $0.limits.requestsPerMinute = 1 }) { (bench: Bench) async throws in
            await bench.poll()
            await bench.settle()
            #expect(bench.contentRequests.isEmpty)
            #expect(bench.count(.refused) == 1)
            bench.move(to: "12:55")
            await bench.settle()
            #expect(bench.contentRequests.count == 1)
            let turn = try await bench.agent.runtime.account.gate.turn(account: Bench.did, now: bench.clock.now)
            // Not in any 60 s, so a millisecond more.
            #expect(turn == .wait(until: bench.clock.now + .milliseconds(60_001), source: .client))
        }
    }

    @Test(arguments: [
        ("https://a.test:443", "https://a.test"), ("http://a.test:80", "http://a.test"),
        ("https://a.test:80", "https://a.test:80"), ("http://[::1]:8080", "http://[::1]:8080"),
    ])
    func aDefaultPortMakesNoOtherServer(origin: String, expected: String) {
        #expect(ServerURL.withoutDefaultPort(origin) == expected)
    }

    @Test func aServerOfItsOwnIsAskedOnlyWhenItsWaitIsOver() async throws {
        let other = MockServer()
        try await other.start()
        try await DigestBench.run(digest: { digest, _ in digest.fetch.url = other.url + "/content" }) {
            (bench: Bench) async throws in
            other.script(.rateLimited(retryAfter: .seconds(7200)), at: .content)
            await bench.settle()
            bench.move(to: "12:55")
            await bench.settle()
            #expect(other.requests(to: .content).count == 1)
            #expect(bench.count(.refused) == 2)
            #expect(await bench.agent.runtime.account.gate.hold(now: bench.clock.now)?.until == nil)
        }
        try await other.stop()
    }
}
