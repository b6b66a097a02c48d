import Foundation
import MockEndorser
import Testing

@Suite struct CanonicalTokenTests {
    private struct ClaimChange: Sendable, CustomTestStringConvertible {
        let name: String
        let text: String?
        let number: Int?
        let status: Int
        var testDescription: String { "\(name)=\(text ?? number.map(String.init) ?? "absent")" }
        var value: Any? { text ?? number }
    }

    private func poll(_ token: String?, auth: MockAuth, advance: Double = 0) async throws -> Answer {
        var answer = Answer()
        try await TestWorld.run(.canonical, { $0.auth = auth }) { world in
            var world = world
            world.clock.advance(by: advance)
            world.probe.token = token
            answer = try await world.poll()
        }
        return answer
    }

    @Test func bothKindsOfTokenAreAccepted() async throws {
        let shared = try TokenMaker.hs256(TokenMaker.canonicalClaims())
        #expect(try await poll(shared, auth: .sharedSecret(TokenMaker.secret)).status == 200)
        let signed = try TokenMaker.es256k(TokenMaker.canonicalClaims())
        #expect(try await poll(signed, auth: .didKey).status == 200)
    }

    @Test func missingForeignAndWrongTokensAre401() async throws {
        let auth = MockAuth.sharedSecret(TokenMaker.secret)
        let other = try TokenMaker.hs256(TokenMaker.canonicalClaims(), secret: Array("another".utf8))
        for token in [nil, "nonsense", other, try TokenMaker.es256k(TokenMaker.canonicalClaims())] {
            let answer = try await poll(token, auth: auth)
            #expect(answer.status == 401)
            #expect(answer.object["error"] as? String == "unauthorized")
        }
    }

    @Test(arguments: [
        ClaimChange(name: "iss", text: nil, number: nil, status: 401),
        ClaimChange(name: "sub", text: "did:ethr:0x00", number: nil, status: 401),
        ClaimChange(name: "sub", text: nil, number: nil, status: 200),
        ClaimChange(name: "aud", text: "timesafari.notifications", number: nil, status: 401),
        ClaimChange(name: "exp", text: nil, number: 1_767_225_600, status: 401),
        ClaimChange(name: "exp", text: nil, number: 1_767_225_601, status: 200),
        ClaimChange(name: "exp", text: nil, number: nil, status: 401),
        ClaimChange(name: "iat", text: nil, number: 1_767_225_660, status: 200),
        ClaimChange(name: "iat", text: nil, number: 1_767_225_661, status: 401),
        ClaimChange(name: "iat", text: nil, number: 1_767_221_000, status: 401),
        ClaimChange(name: "jti", text: nil, number: nil, status: 401),
        ClaimChange(name: "scope", text: "offers", number: nil, status: 403),
        ClaimChange(name: "scope", text: "offers notifications", number: nil, status: 200),
    ])
    private func eachClaimIsChecked(change: ClaimChange) async throws {
        let token = try TokenMaker.hs256(TokenMaker.canonicalClaims([change.name: change.value]))
        #expect(try await poll(token, auth: .sharedSecret(TokenMaker.secret)).status == change.status)
    }

    @Test func expiredTokenResponseHasBothTimes() async throws {
        let token = try TokenMaker.hs256(TokenMaker.canonicalClaims(["exp": 1_767_225_540]))
        let answer = try await poll(token, auth: .sharedSecret(TokenMaker.secret))
        let details = answer.object["details"] as? [String: Any]
        #expect(details?["expiredAt"] as? String == "2025-12-31T23:59:00Z")
        #expect(details?["currentTime"] as? String == "2026-01-01T00:00:30Z")
    }

    @Test func tokenAcknowledgesOnce() async throws {
        try await TestWorld.run(.canonical, { $0.auth = .sharedSecret(TokenMaker.secret) }) { world in
            var world = world
            let ids = world.server.publish(count: 2)
            world.probe.token = try TokenMaker.hs256(TokenMaker.canonicalClaims())
            #expect(try await world.poll().status == 200)
            #expect(try await world.acknowledge([ids[0]], key: "a").status == 200)
            #expect(try await world.acknowledge([ids[1]], key: "b").status == 401)
            #expect(try await world.poll().status == 200)
            world.probe.token = try TokenMaker.hs256(TokenMaker.canonicalClaims(["jti": "token-2"]))
            #expect(try await world.acknowledge([ids[1]], key: "b").status == 200)
        }
    }
}
