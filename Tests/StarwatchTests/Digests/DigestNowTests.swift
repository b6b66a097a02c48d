import MockEndorser
import StarwatchCore
import StarwatchStore
import Testing

@testable import Starwatch

/// Digests that somebody asks for, whatever their times.
@Suite struct DigestNowTests {
    private static let lateness = "starwatch_digest_lateness_seconds_count"

    @Test func aFetchByHandStoresTheContentAndArmsItAnew() async throws {
        try await DigestBench.run { (bench: Bench) async throws in
            await bench.settle()
            bench.mock.content = #"{"count": 9, "who": "Ada"}"#
            bench.clock.advance(by: .seconds(60))
            let report = try await bench.agent.perform(ControlAPI.fetchDigest, "daily")
            #expect(report.outcome == .fetched && report.contentAt == bench.clock.now.iso8601)
            await bench.arm()
            let armed = try #require(try await bench.stored().first?.row)
            #expect(armed.arming?.text == .cached(bench.clock.now) && armed.prefetch == .none)
            // It is asked with the version of before, and its time has its own fetch.
            #expect(try await bench.agent.perform(ControlAPI.fetchDigest, "daily").outcome == .notModified)
            bench.move(to: "12:55")
            await bench.settle()
            #expect(bench.contentRequests.count == 4)
            #expect(bench.count(.fetched) == 2 && bench.count(.notModified) == 2)
        }
    }

    @Test func aFetchByHandThatFailsSaysHowAndLeavesWhatThereIs() async throws {
        try await DigestBench.run(callbacks: { options, mock in
            options.reportError = FetchOptions(url: mock.url + "/callback")
        }) { (bench: Bench) async throws in
            await bench.settle()
            bench.mock.setStickyFault(.status(500), at: .content)
            let report = try await bench.agent.perform(ControlAPI.fetchDigest, "daily")
            #expect(report.outcome == .refused && report.contentAt == ManualClock.start.iso8601)
            await #expect(throws: AgentError.self) { try await bench.agent.fetchNow(DigestBench.name) }
            #expect(bench.count(.refused) == 2)
            // No digest of a time has failed.
            #expect(try await bench.agent.store.events.count() == 0)
            bench.mock.clearFaults()
            bench.mock.content = #"{"count": 4, "who": "Ada"}"#
            #expect(try await bench.agent.fetchNow(DigestBench.name))
            #expect(try await !bench.agent.fetchNow(DigestBench.name))
        }
    }

    @Test func aDigestIsShownAtOnceUnderAnIDOfItsOwnAndItsTimesStay() async throws {
        try await DigestBench.run { (bench: Bench) async throws in
            await bench.settle()
            bench.clock.advance(by: .seconds(120))
            let first = try await bench.agent.perform(ControlAPI.showDigest, "daily")
            let second = try await bench.agent.perform(ControlAPI.showDigest, "daily")
            #expect(first.text == "cached" && first.contentAt == ManualClock.start.iso8601)
            #expect(first.state == "delivered" && second.notificationID != first.notificationID)
            let shown = try #require(
                try await bench.agent.store.notifications.find(first.notificationID, of: Bench.did)
            )
            #expect(shown.title == "Daily" && shown.body == "3 new for Ada (as of 2026-01-01 12:00)")
            await bench.arm()
            #expect(bench.count(.shown) == 2)
            #expect(await bench.sample(Self.lateness) == "0")
            let planned = try #require(try await bench.stored().first { $0.row.occurrence.isPlanned })
            #expect(planned.row.status == .scheduled && planned.token != first.notificationID)
            let report = try #require(try await bench.agent.perform(ControlAPI.listDigests).digests.first)
            #expect(report.occurrences.map(\.slot) == ["daily/now", "daily/now", "daily/slot-13-00"])
            #expect(await bench.agent.state().digests["daily"]?.lastRun == nil)
            bench.move(to: "12:55")
            await bench.settle()
            await bench.show(at: "13:00")
            #expect(bench["phone"].seen.map(\.id) == [planned.token])
            #expect(await bench.sample(Self.lateness) == "1")
            #expect(try await bench.imbalance() == 0)
        }
    }

    @Test func withoutYoungContentTheFixedTextIsShown() async throws {
        try await DigestBench.run(digest: { digest, _ in digest.ttl = .seconds(600) }) { (bench: Bench) async throws in
            bench.mock.setStickyFault(.status(500), at: .content)
            await bench.settle()
            let none = try await bench.agent.perform(ControlAPI.showDigest, "daily")
            #expect(none.text == "fallback" && none.contentAt == nil)
            bench.mock.clearFaults()
            _ = try await bench.agent.perform(ControlAPI.fetchDigest, "daily")
            bench.clock.advance(by: .seconds(601))
            let old = try await bench.agent.showNow(DigestBench.name)
            #expect(try await bench.agent.store.notifications.find(old, of: Bench.did)?.body == "Open the app")
        }
    }

    @Test func whatCannotBeShownIsSaidAndNothingIsStored() async throws {
        try await DigestBench.run(digest: { digest, _ in digest.onEmpty = .skip }) { (bench: Bench) async throws in
            bench.mock.content = "{}"
            await bench.settle()
            func refusal(_ name: String = "daily") async -> ControlError.Kind? {
                await #expect(throws: ControlError.self) { try await bench.agent.perform(ControlAPI.showDigest, name) }?
                    .kind
            }
            #expect(await refusal("weekly") == .notFound)
            #expect(await refusal() == .conflict)
            bench.mock.content = #"{"count": 1}"#
            _ = try await bench.agent.perform(ControlAPI.fetchDigest, "daily")
            _ = bench.agent.process.sinks[0].change { $0.record(.gone, at: bench.clock.now) }
            #expect(await refusal() == .conflict)
            _ = try await bench.agent.setIdentity(nil)
            #expect(await refusal() == .conflict)
            await #expect(throws: ControlError.self) { try await bench.agent.perform(ControlAPI.fetchDigest, "daily") }
            await #expect(throws: ControlError.self) { try await bench.agent.perform(ControlAPI.fetchDigest, "weekly") }
            #expect(
                try await bench.agent.perform(ControlAPI.listSentNotifications, NotificationQuery()).notifications
                    .isEmpty
            )
            #expect(
                await bench.sample("starwatch_control_requests_total{operation=\"digests_show\",result=\"failed\"}")
                    == "4"
            )
        }
    }

    @Test func aSinkThatIsDownGetsItLater() async throws {
        try await DigestBench.run { (bench: Bench) async throws in
            await bench.settle()
            bench["phone"].script(.down)
            let digest = bench.digests.digests[0]
            let id = try await bench.digests.showNow(digest).id
            await bench.dispatch()
            bench.clock.advance(by: .seconds(10))
            await bench.dispatch()
            #expect(bench["phone"].seen.map(\.id) == [id, id])
            #expect(bench["phone"].seen.allSatisfy { $0.poll == "daily" })
            #expect(await bench.arm().shown == 1)
        }
    }
}
