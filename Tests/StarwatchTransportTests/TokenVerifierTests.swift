import Crypto
import StarwatchCore
import Testing

@testable import StarwatchTransport

@Suite struct TokenVerifierTests {
    private typealias Failure = TokenVerifier.Failure

    private let now = Vector.issuedAt
    private let secret = Array("a shared secret".utf8)
    private let alice = DID("did:ethr:0x1111111111111111111111111111111111111111")!

    private func verifier(_ secrets: [[UInt8]]? = nil) -> TokenVerifier {
        TokenVerifier(key: .sharedSecrets(secrets ?? [secret]), policy: TokenVerifier.Policy(issuer: alice))
    }

    private func claims(
        lifetime: Duration = .seconds(3600),
        id: String = "1",
        _ change: (inout TokenClaims) -> Void = { _ in }
    ) -> TokenClaims {
        var claims = TokenClaims(account: alice, dialect: .canonical, issuedAt: now, lifetime: lifetime, tokenID: id)
        change(&claims)
        return claims
    }

    private func sign(_ claims: TokenClaims) -> String {
        CompactJWT.sign(claims, secret: SymmetricKey(data: secret))
    }

    private func outcome(_ token: String, after seconds: Int64 = 0) -> Failure? {
        var verifier = verifier()
        do {
            try verifier.verify(token, now: now + .seconds(seconds), isSingleUse: true)
            return nil
        } catch {
            return error
        }
    }

    @Test func validTokenPasses() {
        #expect(outcome(sign(claims())) == nil)
    }

    @Test func issuerMustBeTheAccount() {
        #expect(outcome(sign(claims { $0.issuer = Vector.did })) == .issuer)
    }

    @Test func audienceMustBeTheAPI() {
        #expect(outcome(sign(claims { $0.audience = "timesafari.notifications" })) == .audience)
        #expect(outcome(sign(claims { $0.audience = nil })) == .audience)
    }

    @Test func scopeMustContainTheWord() {
        #expect(outcome(sign(claims { $0.scope = "a notifications b" })) == nil)
        #expect(outcome(sign(claims { $0.scope = "notifications:read" })) == .scope)
    }

    @Test(
        arguments: [(90, nil), (91, TokenVerifier.Failure.expired), (-30, nil), (-31, .future)]
            as [(Int64, TokenVerifier.Failure?)]
    )
    func expiryAndIssueTimeHaveATolerance(seconds: Int64, failure: TokenVerifier.Failure?) {
        #expect(outcome(sign(claims(lifetime: .seconds(60))), after: seconds) == failure)
    }

    @Test(arguments: [(3630, nil), (3631, .age)] as [(Int64, TokenVerifier.Failure?)])
    func tokenOlderThanAnHourIsRejected(seconds: Int64, failure: TokenVerifier.Failure?) {
        #expect(outcome(sign(claims(lifetime: .seconds(86_400))), after: seconds) == failure)
    }

    @Test func identifierIsAcceptedOnceWithinTheWindow() throws {
        var verifier = verifier()
        let token = sign(claims())
        try verifier.verify(token, now: now, isSingleUse: true)
        #expect(throws: Failure.replay) {
            try verifier.verify(token, now: now + .seconds(299), isSingleUse: true)
        }
        try verifier.verify(token, now: now + .seconds(299), isSingleUse: false)
        try verifier.verify(sign(claims(id: "2")), now: now + .seconds(299), isSingleUse: true)
        try verifier.verify(token, now: now + .seconds(300), isSingleUse: true)
        #expect(outcome(sign(claims(id: ""))) == .replay)
    }

    @Test func rejectedTokenDoesNotConsumeItsIdentifier() throws {
        var verifier = verifier()
        let token = sign(claims())
        #expect(throws: Failure.future) {
            try verifier.verify(token, now: now - .seconds(60), isSingleUse: true)
        }
        try verifier.verify(token, now: now, isSingleUse: true)
    }

    @Test func oldAndNewSecretsAreAccepted() throws {
        var both = verifier([Array("newer".utf8), secret])
        try both.verify(sign(claims()), now: now, isSingleUse: false)
        var newer = verifier([Array("newer".utf8)])
        #expect(throws: Failure.signature) { try newer.verify(sign(claims()), now: now, isSingleUse: false) }
    }

    @Test func anyChangedCharacterIsDetected() {
        let token = sign(claims())
        for offset in stride(from: 0, to: token.count, by: 7) {
            var characters = Array(token)
            characters[offset] = characters[offset] == "A" ? "B" : "A"
            #expect(outcome(String(characters)) != nil)
        }
    }

    @Test(arguments: ["", "a.b", "a.b.c", "e30.e30.e30", "....", "eyJhbGciOiJub25lIn0.e30."])
    func textsThatAreNotTokensAreRejected(text: String) {
        #expect(outcome(text) != nil)
    }

    @Test func verifierDeterminesTheAlgorithm() {
        let none = Base64.encodeURL(Array(#"{"alg":"none"}"#.utf8)) + "." + Base64.encodeURL(claims().json) + "."
        #expect(outcome(none) == .algorithm)
        #expect(outcome(Vector.token) == .algorithm)
    }

    @Test func vectorVerifiesOnlyWithItsDID() throws {
        func verify(_ token: String, issuer: DID) throws {
            var policy = TokenVerifier.Policy(issuer: issuer, audience: nil, scope: nil)
            policy.maxAge = .seconds(60)
            var verifier = TokenVerifier(key: .issuer, policy: policy)
            try verifier.verify(token, now: now, isSingleUse: false)
        }
        try verify(Vector.token, issuer: Vector.did)
        #expect(throws: Failure.signature) { try verify(Vector.token, issuer: alice) }
        #expect(throws: Failure.algorithm) { try verify(sign(claims()), issuer: alice) }
        let last = Vector.token.last == "A" ? "Q" : "A"
        #expect(throws: Failure.self) { try verify(Vector.token.dropLast(2) + last + "A", issuer: Vector.did) }
    }

    @Test func endorserPolicyRejectsAnAudience() throws {
        var verifier = TokenVerifier(
            key: .sharedSecrets([secret]),
            policy: TokenVerifier.Policy(issuer: alice, audience: nil, scope: nil)
        )
        #expect(throws: Failure.audience) { try verifier.verify(sign(claims()), now: now, isSingleUse: false) }
    }
}
