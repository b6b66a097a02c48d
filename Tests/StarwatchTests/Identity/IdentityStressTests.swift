import Foundation
import MockEndorser
import StarwatchCore
import Synchronization
import Testing

@testable import Starwatch

/// Three people and nobody, one after the other, while polls, deliveries and acknowledgements run at full speed. Each
/// has plans of their own, so that every request and notification says whose it is.
@Suite(.timeLimit(.minutes(5))) struct IdentityStressTests {
    private static let secret = "a secret of thirty-two bytes ok!"
    private static let people = [
        Bench.did, DID("did:key:z6MkpTHR8VNsBxYAAWHut2Geadd9jSwuBV8xRoAnwWsdvktH")!,
        DID("did:key:z6MkjchhfUsD6mmvni8mCdXHw216Xrm9bQe2mBH1P5RDjVJG")!,
    ]

    /// Identities that can receive a delivery now: one, none, or two during a change.
    private final class Audience: Sendable {
        private let state = Mutex<Set<DID>>([])
        var now: Set<DID> { state.withLock { $0 } }
        func set(_ people: Set<DID>) { state.withLock { $0 = people } }
    }

    private struct Payload: Decodable {
        struct Change: Decodable { let plan: String }
        let changes: [Change]
    }

    @Test func whateverTheMomentEverybodyGetsOnlyWhatIsTheirs() async throws {
        try await Bench.run(
            sinks: ["a"],
            server: {
                $0.auth = .sharedSecret(Array(Self.secret.utf8))
                $0.planCount = 30
                $0.requestsPerMinute = nil
                $0.acknowledgementsPerMinute = nil
            },
            configure: { options, _, folder in
                options.auth.kind = .sharedSecret
                options.auth.secretFile = try folder.write(Self.secret, to: "secret")
                options.limits.requestsPerMinute = 100_000
                options.limits.acknowledgementsPerMinute = 1_000_000
            }
        ) { bench in
            bench.clock.setMode(.jumping)
            let (agent, mock, sink) = (bench.agent, bench.mock, bench["a"])
            // The bench's dispatcher has the scripted sink; a switch must give up its passes as well.
            let dispatcher = bench.dispatcher
            let plans = mock.planIDs
            let plansOf = Dictionary(
                uniqueKeysWithValues: Self.people.enumerated().map { index, did in
                    (did, Array(plans[index * 10..<index * 10 + 10]))
                }
            )
            let ownerOf = Dictionary(uniqueKeysWithValues: plansOf.flatMap { did, plans in plans.map { ($0, did) } })
            let audience = Audience()
            let wrong = Mutex<[String]>([])
            sink.before { notification in
                let now = audience.now
                let payload = try? JSONDecoder().decode(Payload.self, from: Data(notification.payload))
                for change in payload?.changes ?? [] where !now.contains(ownerOf[change.plan]!) {
                    wrong.withLock { $0.append("delivered \(change.plan) to \(now)") }
                }
                if Task.isCancelled { return }
                await Task.yield()
            }
            audience.set([Bench.did])
            _ = try await agent.changeStars(StarsChange(operation: .set, planIDs: plansOf[Bench.did]!))

            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<2 {
                    group.addTask {
                        while !Task.isCancelled {
                            _ = await agent.runtime.pollService.pass(agent.runtime.polls[0], runID: "run_of_the_test")
                            _ = await dispatcher.pass()
                        }
                    }
                }
                group.addTask { while !Task.isCancelled { _ = await agent.runtime.acknowledger.pass() } }
                var random = SystemRandomNumberGenerator()
                var former: DID? = Bench.did
                for turn in 0..<20 {
                    mock.publish((0..<5).map { _ in MockChange(planID: plans.randomElement(using: &random)!) })
                    // Sometimes in the middle of things, sometimes after a round or two.
                    for _ in 0..<Int.random(in: 0...2, using: &random) {
                        while await agent.runtime.pollService.pass(agent.runtime.polls[0], runID: "run_of_the_test")
                            .skip
                            == .overlap
                        {
                            await Task.yield()
                        }
                        _ = await dispatcher.pass()
                        _ = await agent.runtime.acknowledger.pass()
                    }
                    for _ in 0..<Int.random(in: 0...100, using: &random) { await Task.yield() }
                    let next: DID? = turn % 4 == 3 ? nil : Self.people[turn % 4]
                    audience.set(Set([former, next].compactMap { $0 }))
                    _ = try await agent.setIdentity(next)
                    await dispatcher.abort()
                    audience.set(Set([next].compactMap { $0 }))
                    if let next {
                        _ = try await agent.changeStars(StarsChange(operation: .set, planIDs: plansOf[next]!))
                    }
                    former = next
                }
                group.cancelAll()
                while (try? await group.next()) != nil {}
            }

            #expect(wrong.withLock { $0 } == [])
            let asked = mock.requests(to: .plansChanged)
            let acknowledged = mock.requests(to: .acknowledge)
            for request in asked + acknowledged {
                let owner = try #require(Self.subject(of: request))
                for plan in plans where String(decoding: request.body, as: UTF8.self).contains("\"\(plan)\"") {
                    #expect(ownerOf[plan]?.rawValue == owner)
                }
            }
            #expect(asked.count >= 5)
            #expect(acknowledged.count >= 3)
            #expect(sink.seen.count >= 3)
            #expect(try await bench.imbalance() == 0)
            // An id is acknowledged under the token of whoever was told of it, and of nobody else.
            let planOf = Dictionary(
                try await bench.rows().map { ($0.jwtID, $0.plan) },
                uniquingKeysWith: { first, _ in first }
            )
            for request in acknowledged {
                let body = try #require(try JSONSerialization.jsonObject(with: Data(request.body)) as? [String: Any])
                for id in try #require(body["acknowledgedJwtIds"] as? [String]) {
                    #expect(planOf[id].flatMap { ownerOf[$0] }?.rawValue == Self.subject(of: request))
                }
            }
        }
    }

    private static func subject(of request: RecordedRequest) -> String? {
        guard let token = request.header("Authorization")?.dropFirst("Bearer ".count) else { return nil }
        var text = token.split(separator: ".")[1].replacing("-", with: "+").replacing("_", with: "/")
        while text.count % 4 != 0 { text += "=" }
        let claims = Data(base64Encoded: String(text)).flatMap { try? JSONSerialization.jsonObject(with: $0) }
        return (claims as? [String: Any])?["sub"] as? String
    }
}
