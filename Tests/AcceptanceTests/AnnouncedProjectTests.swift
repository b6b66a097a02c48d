import Foundation
import MockEndorser
import StarwatchCore
import Testing

/// The projects and names that the built agent announces, compared with the claims of the server.
@Suite struct AnnouncedProjectTests {
    private static let key = "278a5de700e29faae8e40e366ec5012b5ec63d36ec77e8a2417154cc1d25383f"

    /// The announced changes of a poll.
    private func items(_ poll: String, in world: AgentWorld) -> [NotificationMessage.Item] {
        let text = (try? String(contentsOfFile: world.workspace.path("notifications.jsonl"), encoding: .utf8)) ?? ""
        return text.split(separator: "\n").compactMap { NotificationMessage(json: Array($0.utf8)) }
            .filter { $0.poll == poll }.flatMap(\.changes)
    }

    private func announced(
        _ count: Int,
        _ poll: String,
        in world: AgentWorld
    ) async throws -> [NotificationMessage.Item] {
        try #require(
            await eventually {
                let items = self.items(poll, in: world)
                return items.count >= count ? items : nil
            }
        )
    }

    @Test func offersAndGiftsHaveTheProjectsOfTheirClaims() async throws {
        let (offers, gives) = ("offers_to_starred", "gives_to_my_projects")
        let world = try await AgentWorld { options in
            // The account of the key owns every second plan.
            (options.dialect, options.planCount, options.auth) = (.endorser, 4, .didKey)
        } configure: { configuration, workspace in
            try workspace.write(Self.key, to: "key")
            configuration.did = "did:ethr:0xF3beAC30C498D9E26865F34fCAa57dBB935b0D74"
            configuration.auth = "kind: did_key\n  key_file: \(workspace.path("key"))"
            configuration.polls = [offers, gives].map { "\($0): {every: 1s, bootstrap: beginning}" }
        }
        let (mock, plans) = (world.mock, world.mock.planIDs)
        mock.publish(count: 4)
        let agent = try await world.start()
        // The agent knows the names of starred projects from their changes.
        _ = try await announced(4, "starred_projects", in: world)

        var projects: [String: String] = [:]
        for link in MockOfferLink.allCases {
            for (index, id) in mock.publishOffers(count: 4, link: link).enumerated() { projects[id] = plans[index] }
        }
        var names: [String: String] = [:]
        for plan in mock.plans { names[plan.id] = plan.name }
        let told = try await announced(projects.count, offers, in: world)
        #expect(Dictionary(uniqueKeysWithValues: told.map { ($0.jwtID, $0.plan) }) == projects)
        #expect(told.allSatisfy { $0.name != nil && $0.name == names[$0.plan] })

        let given = mock.publishGives(count: 4)
        let gifts = try await announced(2, gives, in: world)
        #expect(gifts.map(\.jwtID).sorted() == [given[0], given[2]].sorted())
        #expect(Set(gifts.map(\.plan)) == [plans[0], plans[2]])
        #expect(gifts.allSatisfy { $0.name != nil && $0.name == names[$0.plan] })
        #expect(await agent.stop() == 0)
        try await mock.stop()
    }
}
