import Foundation
import MockEndorser
import StarwatchCore
import StarwatchStore
import Testing

@testable import Starwatch

/// Grouping of changes into notifications (semantics: outbox, grouping).
@Suite struct GroupingTests {
    /// A notification as sinks get it.
    private struct Payload: Decodable {
        struct Item: Decodable {
            let jwt_id: String
            let name: String?
        }

        let id: String
        let group: String
        let count: Int
        let title: String
        let body: String
        let deep_link: String
        let actions: [String]
        let changes: [Item]

        init(_ notification: OutgoingNotification) throws {
            self = try JSONDecoder().decode(Payload.self, from: Data(notification.payload))
        }
    }

    @Test func aSingleChangeIsNamed() async throws {
        try await Bench.run(sinks: ["first"]) { bench async throws in
            let ids = bench.mock.publish([MockChange(planID: bench.mock.planIDs[0], name: "Garden of Ümläut 🌱")])
            await bench.poll()
            await bench.dispatch()

            let seen = try #require(bench["first"].seen.first)
            let payload = try Payload(seen)
            #expect(payload.group == "single")
            #expect(payload.count == 1)
            #expect(payload.body == "Garden of Ümläut 🌱 has been updated")
            #expect(payload.actions.first == "view_project")
            #expect(payload.changes.map(\.jwt_id) == ids)
            #expect(seen.body == payload.body && seen.id == payload.id && seen.group == .single)
        }
    }

    @Test(arguments: [2, 5])
    func aFewChangesAreCounted(_ count: Int) async throws {
        try await Bench.run(sinks: ["first"]) { bench async throws in
            let ids = await bench.fetch(count)
            await bench.dispatch()

            let payload = try Payload(try #require(bench["first"].seen.first))
            #expect(payload.group == "several")
            #expect(payload.count == count)
            #expect(payload.body == "You have \(count) new updates in your starred projects")
            #expect(payload.actions.first == "view_updates")
            #expect(payload.deep_link == "timesafari://projects/updates?jwtIds=" + ids.joined(separator: ","))
        }
    }

    @Test(arguments: [6, 20])
    func manyChangesGetAShortlink(_ count: Int) async throws {
        try await Bench.run(sinks: ["first"]) { bench async throws in
            await bench.fetch(count)
            await bench.dispatch()

            let payload = try Payload(try #require(bench["first"].seen.first))
            #expect(payload.group == "many")
            #expect(payload.count == count)
            #expect(payload.actions.contains("view_updates"))
            let link = try DeepLink(parsing: payload.deep_link)
            if case .shortlink = link {} else { Issue.record("the link is no shortlink") }
        }
    }

    @Test func aLargeGroupIsAnnouncedInPartsThatListEveryChange() async throws {
        try await Bench.run(
            sinks: ["first"],
            configure: { options, _, _ in options.delivery.groupInterval = .seconds(300) }
        ) { bench async throws in
            let ids = await bench.fetch(250)
            let pass = await bench.dispatch()

            #expect(pass.made == 3)
            #expect(pass.delivered == 250)
            let seen = bench["first"].seen
            let payloads = try seen.map { try Payload($0) }
            #expect(payloads.map(\.count) == [100, 100, 50])
            #expect(payloads.flatMap { $0.changes.map(\.jwt_id) } == ids)
            #expect(
                payloads.map(\.body) == [
                    "You have 250 new updates in your starred projects", "100 more of 250", "50 more of 250",
                ]
            )
            #expect(Set(seen.map(\.id)).count == 3 && Set(payloads.map(\.deep_link)).count == 3)
            #expect(payloads.allSatisfy { $0.group == "many" && $0.title == "Project Updates" })
            for payload in payloads {
                guard case .shortlink(let link) = try DeepLink(parsing: payload.deep_link) else {
                    Issue.record("the link is no shortlink")
                    continue
                }
                let targets = try await bench.agent.store.notifications.shortlink(
                    link,
                    of: Bench.did,
                    now: bench.clock.now
                )?.targets
                #expect(targets?.map(\.jwt.rawValue) == payload.changes.map(\.jwt_id))
            }
        }
    }

    /// One sink is down until 1,250 offers have waited for it.
    @Test func everyChangeReachesEverySinkByNameOnce() async throws {
        try await Bench.run(sinks: ["first", "second"]) { bench async throws in
            bench["second"].answer(.down)
            var ids = bench.mock.publish(count: 1250)
            var passes = 0
            func round() async {
                await bench.poll()
                await bench.dispatch()
                await bench.acknowledge()
                bench.clock.advance(by: .seconds(61))
                passes += 1
            }
            while passes < 4 { await round() }
            #expect(bench["first"].seen.count >= 8)
            #expect(try await bench.watermark() == nil)
            bench["second"].answer(.ok)
            bench["second"].forget()
            while passes < 40, bench["second"].named.count < 1250 { await round() }
            for _ in 0..<20 { await round() }

            ids.sort()
            #expect(bench["first"].named.sorted() == ids)
            #expect(bench["second"].named.sorted() == ids)
            #expect(try await bench.imbalance() == 0)
            #expect(try await bench.agent.store.status.snapshot([bench.stream]).rows[.claimed] == 0)
            #expect(try await bench.watermark() == ids.last)
        }
    }

    @Test func moreRowsThanAPassClaimsAreClaimedByTheNextWithoutAWait() async throws {
        try await Bench.run(
            sinks: ["first"],
            configure: { options, _, _ in
                options.delivery.groupInterval = .seconds(300)
                options.outbox.maxUndelivered = 5000
            }
        ) { bench async throws in
            let ids = await bench.fetch(1120)
            let pass = await bench.dispatch()
            #expect(pass.made == 10 && pass.next == bench.clock.now)
            #expect(await bench.dispatch().made == 2)
            #expect(bench["first"].named.sorted() == ids.sorted())
            await bench.fetch(1)
            #expect(await bench.dispatch().made == 0)
        }
    }

    @Test func notificationsKeepTheirIntervalOverARestart() async throws {
        try await Bench.run(
            sinks: ["first"],
            configure: { options, _, _ in options.delivery.groupInterval = .seconds(300) }
        ) {
            bench async throws in
            let start = bench.clock.now
            await bench.fetch(1)
            #expect(await bench.dispatch().made == 1)
            bench.clock.advance(by: .seconds(60))
            await bench.fetch(2)
            let early = await bench.dispatch()
            #expect(early.made == 0)
            #expect(early.next == start + .seconds(300))

            try await bench.restart()
            bench.clock.advance(by: .milliseconds(239_999))
            await bench.fetch(1)
            #expect(await bench.dispatch().made == 0)
            bench.clock.advance(by: .milliseconds(1))
            #expect(await bench.dispatch().made == 1)
            #expect(bench["first"].seen.map(\.count) == [1, 3])
        }
    }

    @Test func theFirstNotificationWaitsForItsGroup() async throws {
        try await Bench.run(sinks: ["first"], configure: { options, _, _ in options.delivery.groupWait = .seconds(30) })
        {
            bench async throws in
            let start = bench.clock.now
            await bench.fetch(1)
            #expect(await bench.dispatch().next == start + .seconds(30))
            bench.clock.advance(by: .seconds(29))
            await bench.fetch(1)
            #expect(await bench.dispatch().made == 0)
            bench.clock.advance(by: .seconds(1))
            #expect(await bench.dispatch().made == 1)
            #expect(bench["first"].seen.map(\.count) == [2])
        }
    }

    @Test func theBoundBetweenSeveralAndManyIsConfigured() async throws {
        try await Bench.run(sinks: ["first"], configure: { options, _, _ in options.delivery.maxGroupSize = 2 }) {
            bench async throws in
            await bench.fetch(3)
            await bench.dispatch()
            #expect(bench["first"].seen.map(\.group) == [.many])
        }
    }

    @Test func aPollsOwnIntervalAndBoundComeBeforeThoseOfAll() async throws {
        try await Bench.run(
            sinks: ["first"],
            configure: { options, _, _ in
                options.delivery.groupInterval = .seconds(300)
                options.delivery.maxGroupSize = 5
                options.polls[0].groupInterval = .seconds(60)
                options.polls[0].maxGroupSize = 1
            }
        ) { bench async throws in
            let start = bench.clock.now
            await bench.fetch(1)
            await bench.dispatch()
            await bench.fetch(2)
            #expect(await bench.dispatch().next == start + .seconds(60))
            #expect(bench.dispatcher.oldestDue(in: try await bench.agent.store.status.snapshot([bench.stream])) == nil)
            bench.clock.advance(by: .seconds(60))
            #expect(
                bench.dispatcher.oldestDue(in: try await bench.agent.store.status.snapshot([bench.stream]))
                    == bench.clock.now
            )
            await bench.dispatch()
            #expect(bench["first"].seen.map(\.group) == [.single, .many])
        }
    }

    @Test func aClockThatWasAheadDelaysNothing() async throws {
        try await Bench.run(
            sinks: ["first"],
            configure: { options, _, _ in options.delivery.groupInterval = .seconds(300) }
        ) { bench async throws in
            await bench.fetch(1)
            await bench.dispatch()
            bench.clock.setWall(to: bench.clock.now - .seconds(86_400))
            // The server's clock was right.
            bench.mock.clockSkew = .seconds(86_400)
            await bench.fetch(1)
            await bench.dispatch()
            #expect(bench["first"].seen.count == 1)
            bench.clock.advance(by: .seconds(301))
            await bench.dispatch()
            #expect(bench["first"].seen.count == 2)
        }
    }

    @Test func whatARemovedPollHasLeftIsDeliveredAndDone() async throws {
        try await World.with(.canonical) { world async throws in
            let agent = try await world.agent { $0.polls[0].bootstrap = .beginning }
            let ids = world.mock.publish(count: 3)
            _ = await agent.cycle()
            let renamed = try await world.agent { options in
                options.polls[0].name = PollName("stars")!
                options.outbox.maxUndelivered = 3
            }
            _ = await renamed.runtime.dispatcher.pass()
            #expect(try world.announced == ids)
            _ = await renamed.runtime.acknowledger.pass()
            #expect(
                try await renamed.outboxList(state: nil).map(\.state) == [.acknowledged, .acknowledged, .acknowledged]
            )
            #expect(world.mock.acknowledgedIDs.isEmpty)
        }
    }
}
