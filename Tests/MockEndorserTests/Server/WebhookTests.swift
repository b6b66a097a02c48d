import Crypto
import Foundation
import MockEndorser
import Testing

@Suite struct WebhookTests {
    private static let secret = Array("hook secret".utf8)

    private func deliver(
        _ world: TestWorld,
        id: String,
        body: String,
        secret: [UInt8] = secret,
        timestamp: Int = 1_767_225_630
    ) async throws -> Answer {
        let signed = Data("\(id).\(timestamp).\(body)".utf8)
        let code = Data(HMAC<SHA256>.authenticationCode(for: signed, using: SymmetricKey(data: secret)))
        return try await world.probe.post(
            "/hook",
            data: Data(body.utf8),
            headers: [
                "webhook-id": id, "webhook-timestamp": "\(timestamp)",
                "webhook-signature": "v1,AAAA v1,\(code.base64EncodedString())",
            ]
        )
    }

    @Test func deliveriesAreGroupedByID() async throws {
        try await TestWorld.run(.endorser, { $0.hookSecret = Self.secret }) { world in
            let body = #"{"id":"ntf_1","changes":[{"jwt_id":"a","plan":"p"},{"jwt_id":"b"}]}"#
            #expect(try await deliver(world, id: "ntf_1", body: body).status == 204)
            #expect(try await deliver(world, id: "ntf_1", body: body).status == 204)
            #expect(try await deliver(world, id: "ntf_2", body: #"{"changes":[]}"#).status == 204)
            let listed = try await world.probe.get("/mock/hook").object["notifications"] as? [[String: Any]]
            #expect(listed?.map { $0["webhook_id"] as? String } == ["ntf_1", "ntf_2"])
            #expect(listed?[0]["jwt_ids"] as? [String] == ["a", "b"])
            #expect(listed?[0]["deliveries"] as? Int == 2 && listed?[0]["bodies_agree"] as? Bool == true)
            let hash = SHA256.hash(data: Data(body.utf8)).map { String(format: "%02x", $0) }.joined()
            #expect(listed?[0]["sha256"] as? String == hash)
            #expect(world.server.receivedNotifications.map(\.bodies.count) == [2, 1])
        }
    }

    @Test func wrongSignaturesAndOldTimesAreRejected() async throws {
        try await TestWorld.run(.endorser, { $0.hookSecret = Self.secret }) { world async throws in
            #expect(try await deliver(world, id: "a", body: "{}", secret: Array("x".utf8)).status == 401)
            #expect(try await deliver(world, id: "a", body: "{}", timestamp: 1_767_225_329).status == 401)
            #expect(try await world.probe.post("/hook", ["a": 1]).status == 400)
            #expect(world.server.receivedNotifications.isEmpty && world.server.refusedNotifications == 3)
        }
    }

    @Test func differentBodiesUnderOneIDAreDetected() async throws {
        try await TestWorld.run(.endorser) { world in
            for body in ["{}", "[]"] { _ = try await deliver(world, id: "a", body: body) }
            #expect(world.server.receivedNotifications.first?.bodiesAgree == false)
        }
    }

    @Test func faultsOfTheHookLoseOrKeepTheDelivery() async throws {
        try await TestWorld.run(.endorser) { world async throws in
            world.server.script(.status(503), .resetBeforeHead, .commitThenReset, at: .hook)
            #expect(try await deliver(world, id: "a", body: "{}").status == 503)
            #expect(try await deliver(world, id: "a", body: "{}").status == 0)
            #expect(world.server.receivedNotifications.isEmpty)
            #expect(try await deliver(world, id: "a", body: "{}").status == 0)
            #expect(world.server.receivedNotifications.map(\.id) == ["a"])
            #expect(world.server.requestCount(of: .hook) == 3)
        }
    }

    @Test func secretFilesAreTextOrBase64() {
        #expect(HookSecret.key(in: Data("plain\n".utf8)) == Array("plain".utf8))
        #expect(HookSecret.key(in: Data("whsec_aGVsbG8=\n".utf8)) == Array("hello".utf8))
        #expect(HookSecret.key(in: Data("whsec_?".utf8)) == nil)
    }
}
