import Foundation
import MockEndorser
import StarwatchCore
import StarwatchStore
import StarwatchTelemetry
import Testing

@testable import Starwatch
@testable import StarwatchPolling

@Suite struct CallbackServiceTests {
    private func all(_ options: inout CallbackOptions, _ mock: MockServer) {
        options.ackDelivery = FetchOptions(url: mock.url + "/callback?of=delivery")
        options.reportError = FetchOptions(url: mock.url + "/callback?of=error")
        options.heartbeat = FetchOptions(url: mock.url + "/callback?of=heartbeat")
    }

    private func told(_ bench: Bench, _ kind: String) throws -> [CallbackEvent] {
        try bench.mock.requests(to: .callback).filter { $0.query == "of=\(kind)" }
            .map { try JSONDecoder().decode(CallbackEvent.self, from: $0.body) }
    }

    @Test func aCallbackIsToldOfEveryDigestThatWasShown() async throws {
        try await DigestBench.run(callbacks: all) { (bench: Bench) async throws in
            await bench.settle()
            await bench.show(at: "13:00")
            await bench.arm()
            _ = await bench.callbacks.pass()
            let event = try #require(try told(bench, "delivery").first)
            #expect(event.type == "delivery" && event.status == "shown" && event.slot == "daily/slot-13-00")
            #expect(event.fireAt == "2026-01-01T13:00:00.000Z" && event.deliveredAt == "2026-01-01T13:00:00.000Z")
            #expect(event.account?.hasPrefix("did:hash:") == true && event.appVersion == AgentVersion.userAgent)
            #expect(!event.timezone.isEmpty)
            let bodies = bench.mock.requests(to: .callback).map { String(decoding: $0.body, as: UTF8.self) }
            #expect(!bodies.contains { $0.contains(Bench.did.rawValue) || $0.contains("Ada") || $0.contains("http") })
            // Told once.
            _ = await bench.callbacks.pass()
            #expect(try told(bench, "delivery").count == 1)
        }
    }

    @Test func aCallbackIsToldOfFailedFetchesAndOfWhatWasNotShown() async throws {
        try await DigestBench.run(callbacks: all) { (bench: Bench) async throws in
            bench.mock.setStickyFault(.status(500), at: .content)
            await bench.settle()
            bench.move(to: "12:55")
            await bench.settle()
            bench.move(to: "13:00")
            await bench.settle()
            _ = await bench.callbacks.pass()
            #expect(try told(bench, "error").map(\.errorCode) == ["fetch_failed", "no_content"])
            #expect(try told(bench, "error").map(\.status) == ["scheduled", "skipped_stale"])
        }
    }

    @Test func anEventStaysUntilItsReceiverHasItAndKeepsItsID() async throws {
        try await DigestBench.run(callbacks: all) { (bench: Bench) async throws in
            bench.mock.script(.status(503), .status(400), at: .callback)
            var passes = 0
            while bench.mock.requestCount(of: .callback) < 3, passes < 10 {
                _ = await bench.callbacks.pass()
                bench.clock.advance(by: .seconds(61))
                passes += 1
            }
            let ids = try told(bench, "heartbeat").map(\.id)
            #expect(ids.count == 3 && Set(ids).count == 1)
            #expect(try await bench.agent.store.events.count() == 0)
            // Once a pass, whatever comes of it.
            #expect(passes >= 3)
            let metrics = bench.agent.metrics.callbacks.events
            #expect(metrics[.heartbeat, .unavailable].value == 1 && metrics[.heartbeat, .refused].value == 1)
            #expect(metrics[.heartbeat, .sent].value == 1 && metrics[.heartbeat, .queued].value == 1)
        }
    }

    @Test func aRefusedEventIsDueAfterItsOwnWaitAndNotAfterAPass() async throws {
        try await DigestBench.run(callbacks: all) { (bench: Bench) async throws in
            bench.mock.script(.status(400), at: .callback)
            let start = bench.clock.now
            let first = await bench.callbacks.pass()
            #expect(bench.mock.requestCount(of: .callback) == 1)
            #expect(first.next == start + .seconds(60))
            // A pass in between does not move it.
            bench.clock.advance(by: .seconds(45))
            #expect(await bench.callbacks.pass().next == start + .seconds(60))
            bench.clock.advance(by: .seconds(15))
            #expect(await bench.callbacks.pass().next == nil)
            #expect(bench.mock.requestCount(of: .callback) == 2)
        }
    }

    @Test func aReceiverThatIsDownIsLeftAloneAndHoldsUpNoOther() async throws {
        try await DigestBench.run(callbacks: all) { (bench: Bench) async throws in
            let store = bench.agent.store
            for number in 0..<10 {
                _ = try await store.events.enqueue(
                    [EventDraft(kind: number % 2 == 0 ? .delivery : .error, payload: "{}")],
                    now: bench.clock.now
                )
            }
            for _ in 0..<5 { bench.mock.script(.status(503), at: .callback) }
            // The first receiver fails once a pass; the others get all that is theirs.
            _ = await bench.callbacks.pass()
            #expect(bench.mock.requests(to: .callback).filter { $0.query == "of=delivery" }.count == 1)
            for _ in 0..<20 {
                bench.clock.advance(by: .seconds(61))
                _ = await bench.callbacks.pass()
            }
            #expect(try await store.events.count() == 0)
        }
    }

    @Test func anEventThatItsReceiverFailsAtHoldsUpNoOther() async throws {
        try await DigestBench.run(callbacks: { options, mock in
            options.ackDelivery = FetchOptions(url: mock.url + "/callback")
        }) { (bench: Bench) async throws in
            for number in 1...3 {
                _ = try await bench.agent.store.events.enqueue(
                    [EventDraft(kind: .delivery, payload: "\(number)")],
                    now: bench.clock.now
                )
            }
            bench.mock.script(.status(500), at: .callback)
            for _ in 0..<2 {
                _ = await bench.callbacks.pass()
                bench.clock.advance(by: .seconds(61))
            }
            let bodies = bench.mock.requests(to: .callback).map { String(decoding: $0.body, as: UTF8.self) }
            #expect(bodies == ["1", "2", "3", "1"])
        }
    }

    @Test func theHeartbeatComesInItsIntervalAlsoOverARestart() async throws {
        try await DigestBench.run(callbacks: all) { (bench: Bench) async throws in
            _ = await bench.callbacks.pass()
            bench.clock.advance(by: .seconds(1800))
            _ = await bench.callbacks.pass()
            try await bench.restart()
            _ = await bench.callbacks.pass()
            #expect(try told(bench, "heartbeat").count == 1)
            bench.clock.advance(by: .seconds(1801))
            _ = await bench.callbacks.pass()
            #expect(try told(bench, "heartbeat").count == 2)
        }
    }

    @Test func anotherConfigurationOfTheDigestsIsToldWithoutItsSecrets() async throws {
        try await DigestBench.run(callbacks: all) { (bench: Bench) async throws in
            await bench.agent.close()
            var options = bench.options
            options.digests[0].ttl = .seconds(3600)
            options.digests[0].fetch.headers = ["X-Secret": "canary"]
            options.digests[0].fetch.url += "/canary?key=canary"
            let agent = try await Agent(options: options, time: bench.clock, logSinks: [bench.log])
            let events = try await agent.store.events.due([.configUpdated], now: bench.clock.now)
            #expect(events.count == 1)
            #expect(events.first?.payload.contains("ttl_seconds") == true)
            #expect(events.first?.payload.contains("canary") == false)
            await agent.close()
        }
    }

    @Test(.timeLimit(.minutes(5))) func theLoopTellsWhatWaitsWhenACycleHasEnded() async throws {
        try await DigestBench.run(callbacks: { options, mock in
            options.ackDelivery = FetchOptions(url: mock.url + "/callback")
        }) { (bench: Bench) async throws in
            let (clock, agent, mock) = (bench.clock, bench.agent, bench.mock)
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await agent.work(.callbacks) }
                await clock.sleepers(atLeast: 1)
                _ = try await agent.store.events.enqueue([EventDraft(kind: .delivery, payload: "{}")], now: clock.now)
                _ = await agent.runtime.pollService.pass(agent.runtime.polls[0], runID: "run_of_the_test")
                try await mock.waitForRequests(1, to: .callback)
                group.cancelAll()
            }
        }
    }

    @Test func withoutEventsTheLoopWaitsForTheMomentAtWhichAllServicesLook() async throws {
        try await DigestBench.run(callbacks: { options, mock in
            options.ackDelivery = FetchOptions(url: mock.url + "/callback")
        }) { (bench: Bench) async throws in
            let (agent, clock) = (bench.agent, bench.clock)
            clock.advance(by: .seconds(7))
            await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await agent.work(.callbacks) }
                await clock.sleepers(atLeast: 1)
                #expect(clock.nextWake == ClockLook.next(after: clock.now))
                group.cancelAll()
            }
        }
    }

    @Test func eventsThatWaitForTooLongAreDroppedAndCounted() async throws {
        try await DigestBench.run(callbacks: { options, mock in
            options.ackDelivery = FetchOptions(url: mock.url + "/callback")
        }) { (bench: Bench) async throws in
            _ = try await bench.agent.store.events.enqueue(
                [EventDraft(kind: .delivery, payload: "{}")],
                now: bench.clock.now
            )
            bench.clock.advance(by: .days(15))
            _ = await bench.callbacks.pass()
            #expect(bench.mock.requestCount(of: .callback) == 0)
            #expect(bench.agent.metrics.callbacks.dropped.value == 1)
        }
    }

    @Test func nobodyIsToldWithoutCallbacks() async throws {
        try await DigestBench.run { (bench: Bench) async throws in
            #expect(bench.agent.runtime.callbacks == nil)
            await bench.settle()
            bench.move(to: "13:00")
            await bench.settle()
            #expect(try await bench.agent.store.events.count() == 0)
        }
    }
}
