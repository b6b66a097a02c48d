import Foundation
import MockEndorser
import Testing

@Suite struct AcknowledgementTests {
    private func counts(_ answer: Answer) -> [Int?] {
        ["acknowledged", "failed", "alreadyAcknowledged"].map { answer.object[$0] as? Int }
    }

    @Test func acknowledgesAllIDsAndCountsKnownOnes() async throws {
        try await TestWorld.run(.canonical) { world in
            let ids = world.server.publish(count: 3)
            let first = try await world.acknowledge(Array(ids[0...1]), key: "a")
            #expect(first.status == 200)
            #expect(counts(first) == [2, 0, 0])
            #expect((first.object["acknowledgmentId"] as? String)?.hasPrefix("ack_") == true)
            #expect(counts(try await world.acknowledge(ids + [ids[2]], key: "b")) == [1, 0, 2])
            #expect(world.server.acknowledgedIDs == ids)
        }
    }

    @Test func oneUnknownIDFailsThemAll() async throws {
        try await TestWorld.run(.canonical) { world in
            let ids = world.server.publish(count: 2)
            let answer = try await world.acknowledge(ids + ["1767225600_abc123_def45678"], key: "a")
            #expect(counts(answer) == [0, 3, 0])
            #expect(world.server.acknowledgedIDs.isEmpty)
        }
    }

    @Test func sameKeyAndBodyRepeatTheResponse() async throws {
        try await TestWorld.run(.canonical) { world in
            let ids = world.server.publish(count: 2)
            let first = try await world.acknowledge(ids, key: "a")
            world.clock.advance(by: 5)
            let second = try await world.acknowledge(ids, key: "a")
            #expect(first.body == second.body)
            #expect(second.header("Idempotency-Replayed") == "true")
            #expect(world.server.appliedAcknowledgements == 1)
        }
    }

    @Test func sameKeyWithAnotherBodyIsAConflict() async throws {
        try await TestWorld.run(.canonical) { world in
            let ids = world.server.publish(count: 2)
            _ = try await world.acknowledge([ids[0]], key: "a")
            #expect(try await world.acknowledge([ids[1]], key: "a").status == 409)
            #expect(world.server.acknowledgedIDs == [ids[0]])
        }
    }

    @Test func keyAndIDsAreRequired() async throws {
        try await TestWorld.run(.canonical) { world async throws in
            let ids = world.server.publish(count: 1)
            #expect(try await world.probe.post(TestWorld.acknowledge, ["acknowledgedJwtIds": ids]).status == 400)
            #expect(try await world.acknowledge([], key: "a").status == 400)
            #expect(try await world.acknowledge(["01JZZZZZZZZZZZZZZZZZZZZZZZ"], key: "b").status == 400)
        }
    }

    @Test func idsPerMinuteAreLimited() async throws {
        try await TestWorld.run(.canonical, { $0.acknowledgementsPerMinute = 3 }) { world in
            let ids = world.server.publish(count: 4)
            #expect(try await world.acknowledge(Array(ids[0...1]), key: "a").status == 200)
            let refused = try await world.acknowledge(Array(ids[2...3]), key: "b")
            #expect(refused.status == 429 && refused.header("Retry-After") == "60")
            world.clock.advance(by: 60)
            #expect(try await world.acknowledge(Array(ids[2...3]), key: "b").status == 200)
        }
    }

    @Test func commitThenResetAcknowledgesAndTheRetryIsAReplay() async throws {
        try await TestWorld.run(.canonical) { world in
            let ids = world.server.publish(count: 2)
            world.server.script(.commitThenReset, at: .acknowledge)
            let lost = try await world.acknowledge(ids, key: "a")
            #expect(lost.status == 0 && !lost.isComplete)
            #expect(world.server.acknowledgedIDs == ids)
            let retry = try await world.acknowledge(ids, key: "a")
            #expect(counts(retry) == [2, 0, 0])
            #expect(world.server.appliedAcknowledgements == 1)
        }
    }
}
