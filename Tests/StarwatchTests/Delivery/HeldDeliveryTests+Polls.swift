import MockEndorser
import StarwatchCore
import StarwatchStore
import Testing

@testable import Starwatch

/// Sinks that hold the changes of several polls.
extension HeldDeliveryTests {
    private static let offers = PollName("offers_to_starred")!
    private static let (giver, taker) = (
        "did:ethr:0x00000000000000000000000000000000000000c1", "did:ethr:0x00000000000000000000000000000000000000c2"
    )

    /// Runs `body` with a second poll, of offers to the starred projects.
    func runTwoPolls(
        _ sinks: [String] = ["log", "phone"],
        dependencies: AgentDependencies = AgentDependencies(),
        offers: PollName = Self.offers,
        change: @escaping (inout AgentOptions) -> Void = { _ in },
        _ body: (Bench) async throws -> Void
    ) async throws {
        try await run(
            sinks,
            dependencies: dependencies,
            change: { options in
                var poll = PollOptions(name: offers, kind: .offersToStarred)
                poll.bootstrap = .beginning
                options.polls.append(poll)
                change(&options)
            },
            body
        )
    }

    private func fetchOffers(_ bench: Bench, _ count: Int) async -> [String] {
        let ids = bench.mock.publishOffers(count: count, to: Self.taker, by: Self.giver)
        _ = await bench.agent.runtime.pollService.pass(bench.agent.runtime.polls[1], runID: "run_of_the_offers")
        return ids
    }

    /// Changes of the night: two offers at 21:30, three changes of projects at 23:00. Each poll's are a notification.
    ///
    /// - Returns: Their ids, those of the projects first.
    func spendTheNightOfTwoPolls(_ bench: Bench) async throws -> [String] {
        try go(bench, to: "2026-01-01T21:30:00Z")
        let offers = await fetchOffers(bench, 2)
        await bench.dispatch()
        try go(bench, to: "2026-01-01T23:00:00Z")
        let changes = await bench.fetch(3)
        await bench.dispatch()
        return changes + offers
    }

    private func last(_ bench: Bench) throws -> NotificationMessage {
        let last = try #require(bench["phone"].seen.last)
        return try #require(NotificationMessage(json: last.payload))
    }

    @Test(arguments: ["offers_to_starred", "nearby"])
    func changesOfSeveralPollsAreOneNotificationWithALineForEach(name: String) async throws {
        let offers = try #require(PollName(name))
        try await runTwoPolls(offers: offers) { bench async throws in
            let ids = try await spendTheNightOfTwoPolls(bench)
            #expect(bench["log"].seen.map(\.count) == [2, 3])
            #expect(bench["phone"].seen.isEmpty)
            let story = try await bench.agent.perform(ControlAPI.explain, ids[4])
            #expect(story.waits.map(\.reason) == [.sinkHours] && story.waits.map(\.sink) == ["phone"])
            let freshness = ["starred_projects", name].map {
                #"starwatch_freshness_seconds_count{poll="\#($0)"}"#
            }

            try go(bench, to: "2026-01-02T06:00:00Z")
            let pass = await bench.dispatch()
            #expect(pass.delivered == 5 && pass.next == nil)
            #expect(bench["phone"].seen.map(\.count) == [5])
            #expect(bench["phone"].named == ids)
            let message = try last(bench)
            #expect(message.title == "New Activity")
            #expect(
                message.body == """
                    You have 3 new updates in your starred projects
                    There are 2 new offers to your starred projects
                    """
            )
            #expect(message.poll == "starred_projects" && message.runID == "run_of_the_test")
            #expect(message.polls == ["starred_projects", name])
            #expect(message.changes.map(\.poll) == [0, 0, 0, 1, 1].map { message.polls?[$0] })
            #expect(message.collapseKey == "several_polls" && message.group == .several)
            // Each change counts for its own poll.
            #expect(await bench.sample(freshness[0]) == "3")
            #expect(await bench.sample(freshness[1]) == "2")
            #expect(try await bench.agent.perform(ControlAPI.explain, message.id).rows?.count == 5)

            await bench.acknowledge()
            #expect(try await bench.counts() == [.acknowledged: 5])
            for (poll, id) in [(bench.stream.poll, ids[2]), (offers, ids[4])] {
                let stream = StreamKey(account: Bench.did, server: bench.mock.url, poll: poll)
                #expect(try await bench.agent.store.acknowledgements.watermark(stream)?.rawValue == id)
            }
            await bench.dispatch()
            #expect(bench["log"].seen.count == 2 && bench["phone"].seen.count == 1)
            #expect(try await bench.imbalance() == 0)
        }
    }

    @Test func theListAndTheDetailsNameAllPollsOfANotification() async throws {
        try await runTwoPolls { bench async throws in
            let ids = try await spendTheNightOfTwoPolls(bench)
            try go(bench, to: "2026-01-02T06:00:00Z")
            await bench.dispatch()
            let id = try last(bench).id
            let polls = ["starred_projects", "offers_to_starred"]
            let list = try await bench.agent.perform(ControlAPI.listSentNotifications, NotificationQuery())
                .notifications
            // The newest, and those that it joins, which are of one poll each.
            #expect(list.map(\.polls) == [polls, nil, nil])
            #expect(list.map(\.poll) == [polls[0], polls[0], polls[1]] && list.first?.id == id)
            let shown = try await bench.agent.perform(ControlAPI.showNotification, id)
            #expect(shown.polls == polls)
            let changes: [[String?]] = try #require(shown.changes).map { [$0.jwtID, $0.poll] }
            let expected: [[String?]] = zip(ids, [0, 0, 0, 1, 1]).map { [$0, polls[$1]] }
            #expect(Set(changes) == Set(expected))
            #expect(try await bench.agent.perform(ControlAPI.explain, id).polls == polls)

            let single = try await bench.agent.perform(ControlAPI.showNotification, list[1].id)
            #expect(single.polls == nil && single.changes?.allSatisfy { $0.poll == nil } == true)
            #expect(try await bench.agent.perform(ControlAPI.explain, list[1].id).polls == nil)
        }
    }

    @Test func aJoinedNotificationCountsUnderThePollOfTheLastOne() async throws {
        try await runTwoPolls { bench async throws in
            _ = try await spendTheNightOfTwoPolls(bench)
            try go(bench, to: "2026-01-02T06:00:00Z")
            await bench.dispatch()
            for (poll, count) in [("starred_projects", "2"), ("offers_to_starred", "1")] {
                let series = "starwatch_notifications_total{poll=\"\(poll)\",group=\"several\"}"
                #expect(await bench.sample(series) == count)
            }
        }
    }

    /// Otherwise offers would come as changes of starred projects.
    @Test(arguments: [false, true])
    func whatAPollBroughtThatIsNoLongerConfiguredSoundsAsItDid(isAlone: Bool) async throws {
        let offers = "There are 2 new offers to your starred projects"
        try await runTwoPolls { bench async throws in
            if isAlone {
                try go(bench, to: "2026-01-01T21:30:00Z")
                for _ in 0..<2 {
                    _ = await fetchOffers(bench, 1)
                    await bench.dispatch()
                    bench.clock.advance(by: .seconds(60))
                }
            } else {
                _ = try await spendTheNightOfTwoPolls(bench)
            }
            try await bench.restart { $0.polls.removeLast() }
            try go(bench, to: "2026-01-02T06:00:00Z")
            await bench.dispatch()
            #expect(bench["phone"].seen.count == 1)
            let others = isAlone ? "" : "You have 3 new updates in your starred projects\n"
            #expect(try last(bench).body == others + offers)
            #expect(try await bench.counts() == [.delivered: isAlone ? 2 : 5])
            #expect(try await bench.imbalance() == 0)
        }
    }

    @Test func joinedNotificationsOfOneMomentDoNotReplaceEachOther() async throws {
        try await runTwoPolls { bench async throws in
            try go(bench, to: "2026-01-01T21:30:00Z")
            var ids: [String] = []
            for count in [50, 1] {
                ids += await fetchOffers(bench, count)
                await bench.dispatch()
                ids += await bench.fetch(count)
                await bench.dispatch()
                bench.clock.advance(by: .seconds(60))
            }
            try go(bench, to: "2026-01-02T06:00:00Z")
            await bench.dispatch()
            let messages = bench["phone"].seen.compactMap { NotificationMessage(json: $0.payload) }
            #expect(messages.map(\.count).sorted() == [2, 100])
            #expect(Set(messages.map(\.collapseKey)) == ["several_polls", "several_polls_2"])
            #expect(Set(bench["phone"].named) == Set(ids))
            #expect(try await bench.counts() == [.delivered: 102])
        }
    }

    @Test func onePollOfTheNightSoundsAsEver() async throws {
        try await runTwoPolls { bench async throws in
            _ = try await spendTheNight(bench)
            try go(bench, to: "2026-01-02T06:00:00Z")
            await bench.dispatch()
            let message = try last(bench)
            #expect(message.body == "You have 5 new updates in your starred projects")
            #expect(message.polls == nil && message.changes.allSatisfy { $0.poll == nil })
            #expect(message.collapseKey == "starred-projects")
        }
    }

    @Test func aRetryOfOneChangeSendsTheNotificationOfSeveralPollsUnderItsId() async throws {
        try await runTwoPolls(change: { $0.outbox.maxRetries = 1 }) { bench async throws in
            let ids = try await spendTheNightOfTwoPolls(bench)
            bench["phone"].script(.refused)
            try go(bench, to: "2026-01-02T06:00:00Z")
            #expect(await bench.dispatch().dead == 5)
            let joined = try last(bench).id
            #expect(try await bench.rows(.dead).map(\.attempts) == [1, 1, 1, 1, 1])
            // Of the poll that the notification does not belong to, and of the other one.
            for id in [ids[4], ids[0]] {
                bench["phone"].forget()
                let row = try #require(try await bench.rows(.dead).first { $0.jwtID == id }).id
                #expect(try await bench.agent.perform(ControlAPI.retryOutbox, RowSelection(ids: [row])).changed == 5)
                if id == ids[4] { bench["phone"].script(.refused) }
                await bench.dispatch()
                #expect(bench["phone"].seen.map(\.id) == [joined])
                #expect(bench["phone"].named == ids)
            }
            #expect(try await bench.counts() == [.delivered: 5])
            #expect(bench["log"].seen.count == 2)
            #expect(try await bench.imbalance() == 0)
        }
    }

    @Test func aRejectedNotificationOfSeveralPollsCountsTheAttemptForAll() async throws {
        try await runTwoPolls { bench async throws in
            _ = try await spendTheNightOfTwoPolls(bench)
            bench["phone"].answer(.refused)
            try go(bench, to: "2026-01-02T06:00:00Z")
            await bench.dispatch()
            #expect(try await bench.rows(.claimed).map(\.attempts) == [1, 1, 1, 1, 1])
        }
    }

    @Test func discardedChangesOfAPollLeaveTheNotificationToTheOther() async throws {
        try await runTwoPolls { bench async throws in
            let ids = try await spendTheNightOfTwoPolls(bench)
            bench["phone"].answer(.down)
            try go(bench, to: "2026-01-02T06:00:00Z")
            await bench.dispatch()
            let joined = try last(bench)
            func discard(_ discarded: some Sequence<String>) async throws -> NotificationMessage {
                let numbers = try await bench.rows().filter { Set(discarded).contains($0.jwtID) }.map(\.id)
                let rows = DiscardSelection(RowSelection(ids: numbers))
                _ = try await bench.agent.perform(ControlAPI.discardOutbox, rows)
                bench.clock.advance(by: .seconds(60))
                await bench.dispatch()
                return try last(bench)
            }
            let mixed = try await discard([ids[0], ids[4]])
            #expect(mixed.id == joined.id && mixed.changes.map(\.jwtID) == [ids[1], ids[2], ids[3]])
            #expect(mixed.polls == joined.polls && mixed.title == joined.title)
            #expect(mixed.body.hasPrefix("You have 2 new updates in your starred projects\n"))
            // The last ones of the poll that the notification belongs to.
            let rest = try await discard(ids[1...2])
            #expect(rest.id == joined.id && rest.changes.map(\.jwtID) == [ids[3]])
            #expect(rest.polls == ["offers_to_starred"] && rest.poll == joined.poll)
            #expect(rest.title == "New Offer" && rest.collapseKey == joined.collapseKey)
            bench["phone"].answer(.ok)
            bench.clock.advance(by: .seconds(600))
            await bench.dispatch()
            #expect(try await bench.counts() == [.cancelled: 4, .delivered: 1])
            #expect(try await bench.imbalance() == 0)
        }
    }
}
