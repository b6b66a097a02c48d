import Foundation
import MockEndorser
import Testing

/// Memory is bounded by present needs, not by past input.
@Suite(.serialized) struct MemoryTests {
    @Test func memoryOfAnswersOfMegabytesGoesBackToTheSystem() async throws {
        let world = try await AgentWorld {
            $0.planCount = 3
        } configure: { configuration, _ in
            configuration.sinks = "    - name: log\n      kind: log"
        }
        let mock = world.mock
        let agent = try await world.start()
        let pages = agent.pages
        let tooLarge = "starwatch_api_requests_total{endpoint=\"plans_changed\",result=\"too_large\"}"
        func answered(_ count: Double, of name: String) async throws {
            let seen = await eventually {
                (try? await pages.metric(name)).flatMap { $0 >= count ? true : nil }
            }
            #expect(seen == true, "\(name) has not reached \(count)")
        }
        try await answered(2, of: "starwatch_poll_success_total{poll=\"starred_projects\"}")
        let before = try #require(try await pages.metric("process_resident_memory_bytes"))
        for megabytes in [4, 9, 16] {
            mock.script(.oversizedBody(bytes: megabytes << 20), at: .plansChanged)
            // Above the bound an answer is given up at once; below it is read to its end.
            if megabytes > 10 {
                try await answered(1, of: tooLarge)
            } else {
                try await answered(
                    Double(megabytes << 20),
                    of: "starwatch_api_received_bytes_total{endpoint=\"plans_changed\"}"
                )
            }
        }
        // The last answer is counted before its memory goes back.
        let isFreed = try await eventually { () -> Bool? in
            let after = try await pages.metric("process_resident_memory_bytes") ?? .infinity
            return after - before < Double(8 << 20) ? true : nil
        }
        #expect(isFreed == true)
        await agent.stop()
        try await mock.stop()
    }
}
