import Foundation
import MockEndorser
import Testing

@Suite struct EndorserTokenTests {
    private func poll(
        _ token: String?,
        auth: MockAuth = .didKey,
        headers: [String: String] = [:],
        advance: Double = 0
    ) async throws -> Answer {
        var answer = Answer()
        try await TestWorld.run(
            .endorser,
            { options in
                options.auth = auth
                options.authorDID = TokenMaker.did
            }
        ) { world in
            var world = world
            world.clock.advance(by: advance)
            world.server.publish(count: 1)
            world.probe.token = token
            world.probe.headers = headers
            answer = try await world.poll(after: "0")
        }
        return answer
    }

    private func code(_ answer: Answer) -> String? {
        (answer.object["error"] as? [String: Any])?["code"] as? String
    }

    private func issuer(_ answer: Answer) -> String? {
        (answer.items.first?["plan"] as? [String: Any])?["issuerDid"] as? String
    }

    @Test func publishedVectorIsAccepted() async throws {
        let answer = try await poll(TokenMaker.fixture)
        #expect(answer.status == 200)
        #expect(issuer(answer) == TokenMaker.did)
    }

    @Test(arguments: [(329.0, 200), (330.0, 400), (-330.0, 200), (-331.0, 400)])
    func timesHaveAToleranceOfFiveMinutes(advance: Double, status: Int) async throws {
        // The vector was issued 30 s before the test's clock and expires 30 s after it.
        let answer = try await poll(TokenMaker.fixture, advance: advance)
        #expect(answer.status == status)
        if status == 400 { #expect(code(answer) == "JWT_VERIFY_FAILED") }
    }

    @Test func audienceIsRejected() async throws {
        let claims: [String: Any] = ["iss": TokenMaker.did, "exp": 1_767_225_660, "iat": 1_767_225_600]
        #expect(try await poll(TokenMaker.es256k(claims)).status == 200)
        let token = try TokenMaker.es256k(claims.merging(["aud": "endorser-api"]) { $1 })
        let answer = try await poll(token)
        #expect(answer.status == 400)
        #expect(code(answer) == "JWT_VERIFY_FAILED")
        #expect(answer.text.contains("audience"))
    }

    @Test(arguments: [MockAuth.didKey, .sharedSecret(TokenMaker.secret)])
    func sharedSecretTokensAreRejected(auth: MockAuth) async throws {
        let token = try TokenMaker.hs256(TokenMaker.canonicalClaims(["aud": nil]))
        let answer = try await poll(token, auth: auth)
        #expect(answer.status == 400)
        #expect(answer.text.contains("not_supported"))
        #expect(try await poll(token, auth: .none).status == 200)
    }

    @Test func signatureOfAnotherKeyIsRejected() async throws {
        let other = "did:ethr:0x0000000000000000000000000000000000000001"
        let answer = try await poll(TokenMaker.es256k(["iss": other, "exp": 1_767_225_660]))
        #expect(answer.status == 400)
        #expect(answer.text.contains("no matching public key found"))
    }

    @Test func otherDIDMethodsAreUnsupported() async throws {
        let answer = try await poll(TokenMaker.es256k(["iss": "did:key:z6Mk", "exp": 1_767_225_660]))
        #expect(answer.status == 400)
        #expect(code(answer) == "UNSUPPORTED_DID_METHOD")
    }

    @Test(arguments: [
        [:], ["Authorization": "bearer \(TokenMaker.fixture)"], ["Authorization": "Bearer undefined"],
    ])
    func missingOrMisspeltTokenIsAnonymous(headers: [String: String]) async throws {
        let answer = try await poll(nil, headers: headers)
        #expect(answer.status == 200)
        #expect(issuer(answer) == "did:none:HIDDEN")
        #expect(!answer.text.contains("did:ethr"))
    }

    @Test func deprecatedHeaderCarriesAToken() async throws {
        #expect(issuer(try await poll(nil, headers: ["Uport-Push-Token": TokenMaker.fixture])) == TokenMaker.did)
    }

    @Test func onlyTheOwnerSeesOffersToOwnPlans() async throws {
        try await TestWorld.run(.endorser, { $0.auth = .didKey }) { world in
            var world = world
            world.server.publishOffers(count: 4)
            let path = "/api/v2/report/offersToPlansOwnedByMe"
            let anonymous = try await world.probe.get(path)
            #expect(anonymous.status == 200 && anonymous.text == #"{"data":[]}"#)
            world.probe.token = TokenMaker.fixture
            #expect(try await world.probe.get(path).items.count == 2)
        }
    }

    @Test func invalidTokenIsReportedBeforeMissingRoute() async throws {
        try await TestWorld.run(.endorser, { $0.auth = .didKey }) { world async throws in
            var world = world
            world.probe.token = "a.b.c"
            #expect(try await world.probe.get("/api/v2/time").status == 400)
        }
    }
}
