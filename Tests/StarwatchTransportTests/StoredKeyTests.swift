import Foundation
import StarwatchCore
import Synchronization
import Testing

@testable import StarwatchTransport

/// Tokens that are signed with stored keys.
@Suite struct StoredKeyTests {
    private let now = Vector.issuedAt
    private let alice = DID("did:ethr:0x1111111111111111111111111111111111111111")!
    private let bob = DID("did:ethr:0x2222222222222222222222222222222222222222")!
    private let source = Source()

    private final class Source: SigningKeySource {
        struct State {
            var keys: [DID: [SigningKey]] = [:]
            var generation: UInt64 = 1
            var reads = 0
            var fails = false
        }

        private let state = Mutex(State())

        var generation: UInt64 { state.withLock(\.generation) }
        var reads: Int { state.withLock(\.reads) }

        func keys(of account: DID) async throws(TokenError) -> [SigningKey] {
            let (keys, fails) = state.withLock { state in
                state.reads += 1
                return (state.keys[account], state.fails)
            }
            if fails { throw .signingKeysUnreadable }
            return keys ?? []
        }

        func set(_ keys: [SigningKey], of account: DID, fails: Bool = false) {
            state.withLock { state in
                state.keys[account] = keys
                state.fails = fails
                state.generation += 1
            }
        }
    }

    private func key(
        _ kid: String,
        _ secret: [UInt8]? = nil,
        _ algorithm: SigningAlgorithm = .hs256,
        endsAfter seconds: Int64? = nil
    ) -> SigningKey {
        SigningKey(
            kid: kid,
            algorithm: algorithm,
            secret: secret ?? Array("secret of \(kid)".utf8),
            createdAt: now,
            endsAt: seconds.map { now + .seconds($0) }
        )
    }

    private func provider(_ algorithm: SigningAlgorithm = .hs256) -> StoredKeyTokenProvider {
        StoredKeyTokenProvider(algorithm: algorithm, source: source)
    }

    private func token(
        _ provider: StoredKeyTokenProvider,
        _ purpose: TokenPurpose = .poll,
        of account: DID? = nil,
        after seconds: Int64 = 0
    ) async throws -> AccessToken {
        try #require(
            try await provider.token(
                for: account ?? alice,
                dialect: .canonical,
                purpose: purpose,
                serverTime: now + .seconds(seconds)
            )
        )
    }

    private func kid(_ token: AccessToken) -> String? { CompactJWT.kid(of: token.rawValue) }

    private func accepts(_ token: AccessToken, _ kids: String..., at seconds: Int64 = 0) -> Bool {
        let secrets = kids.map { Array("secret of \($0)".utf8) }
        var verifier = TokenVerifier(key: .sharedSecrets(secrets), policy: .init(issuer: alice))
        return (try? verifier.verify(token.rawValue, now: now + .seconds(seconds), isSingleUse: false)) != nil
    }

    @Test func theNewestKeySignsAndIsNamedInTheHeader() async throws {
        source.set([key("new"), key("old", endsAfter: 1000)], of: alice)
        let token = try await token(provider())
        let header = try #require(Base64.decodeURL(token.rawValue.prefix { $0 != "." }))
        #expect(String(decoding: header, as: UTF8.self) == #"{"alg":"HS256","kid":"new","typ":"JWT"}"#)
        #expect(accepts(token, "new"))
        #expect(!accepts(token, "old"))
    }

    @Test func aPrivateKeySignsWithItsNameToo() async throws {
        let secret = try #require(Hex.decode(Vector.keyHex.utf8))
        source.set([key("mine", secret, .es256k)], of: Vector.did)
        let token = try await token(provider(.es256k), of: Vector.did)
        let header = try #require(Base64.decodeURL(token.rawValue.prefix { $0 != "." }))
        #expect(String(decoding: header, as: UTF8.self) == #"{"alg":"ES256K","kid":"mine","typ":"JWT"}"#)
        var verifier = TokenVerifier(key: .issuer, policy: .init(issuer: Vector.did))
        try verifier.verify(token.rawValue, now: now, isSingleUse: false)
    }

    @Test func aKeyOfAnotherAlgorithmSignsNothing() async throws {
        source.set([key("mine")], of: alice)
        await #expect(throws: TokenError.noSigningKey) { try await token(provider(.es256k)) }
    }

    @Test func withoutAKeyThereIsNoTokenButTheAccountIsAccepted() async throws {
        let provider = provider()
        try await provider.validate(account: alice)
        await #expect(throws: TokenError.noSigningKey) { try await token(provider) }
        // A key that retires does not take the place of a revoked one.
        source.set([key("old", endsAfter: 1000)], of: alice)
        await #expect(throws: TokenError.noSigningKey) { try await token(provider) }
        source.set([key("new")], of: alice)
        #expect(kid(try await token(provider)) == "new")
        await #expect(throws: TokenError.noSigningKey) { try await token(provider, of: bob) }
    }

    @Test func keysAreReadOnlyAfterAChange() async throws {
        source.set([key("new")], of: alice)
        let provider = provider()
        for seconds in 0..<100 {
            _ = try await token(provider, after: Int64(seconds) * 60)
            _ = try await token(provider, .acknowledge, after: Int64(seconds) * 60)
        }
        #expect(source.reads == 1)
        source.set([key("newer")], of: alice)
        #expect(kid(try await token(provider)) == "newer")
        #expect(source.reads == 2)
    }

    // MARK: - Rotation

    /// The server does not know the new key yet.
    @Test(arguments: TokenPurpose.allCases)
    func aRefusedKeyIsReplacedByTheOneInItsGrace(purpose: TokenPurpose) async throws {
        source.set([key("new"), key("old", endsAfter: 10_000)], of: alice)
        let provider = provider()
        let refused = try await token(provider, purpose)
        #expect(kid(refused) == "new")
        await provider.refuse(refused, for: purpose)
        for purpose in TokenPurpose.allCases { #expect(kid(try await token(provider, purpose, after: 1)) == "old") }
    }

    @Test func theNewestKeyIsTriedAgainOnceIn10Minutes() async throws {
        source.set([key("new"), key("old", endsAfter: 100_000)], of: alice)
        let provider = provider()
        await provider.refuse(try await token(provider), for: .poll)
        #expect(kid(try await token(provider, after: 599)) == "old")
        let second = try await token(provider, after: 600)
        #expect(kid(second) == "new")
        await provider.refuse(second, for: .poll)
        #expect(kid(try await token(provider, after: 601)) == "old")
        #expect(kid(try await token(provider, after: 1199)) == "old")
        // The server knows it now, and nothing is refused.
        for seconds: Int64 in [1200, 1300, 5000, 9000] {
            #expect(kid(try await token(provider, after: seconds)) == "new")
        }
    }

    /// The server knows the new key and forgot the former one.
    @Test func aRefusedFormerKeyGivesWayToTheNewest() async throws {
        source.set([key("new"), key("old", endsAfter: 100_000)], of: alice)
        let provider = provider()
        await provider.refuse(try await token(provider), for: .poll)
        let old = try await token(provider, after: 1)
        await provider.refuse(old, for: .poll)
        #expect(kid(try await token(provider, after: 2)) == "new")
    }

    @Test func aLateRefusalOfTheNewestKeyChangesNothing() async throws {
        source.set([key("new"), key("old", endsAfter: 100_000)], of: alice)
        let provider = provider()
        let (first, second) = (try await token(provider), try await token(provider, .acknowledge))
        await provider.refuse(first, for: .poll)
        await provider.refuse(second, for: .acknowledge)
        #expect(kid(try await token(provider, after: 1)) == "old")
    }

    @Test func aKeySignsNothingAfterItsGrace() async throws {
        source.set([key("new"), key("old", endsAfter: 300)], of: alice)
        let provider = provider()
        await provider.refuse(try await token(provider), for: .poll)
        let old = try await token(provider, after: 299)
        #expect(kid(old) == "old")
        let next = try await token(provider, after: 300)
        #expect(kid(next) == "new")
        await provider.refuse(next, for: .poll)
        #expect(kid(try await token(provider, after: 301)) == "new")
    }

    /// The source gives former keys of an emergency no more.
    @Test func afterAnEmergencyNothingIsSignedWithAFormerKey() async throws {
        source.set([key("old")], of: alice)
        let provider = provider()
        #expect(kid(try await token(provider)) == "old")
        source.set([key("new")], of: alice)
        for seconds: Int64 in 0..<5 {
            let token = try await token(provider, after: seconds)
            #expect(kid(token) == "new")
            await provider.refuse(token, for: .poll)
        }
    }

    @Test func nothingIsSignedWithFormerKeysIfTheNewOnesCannotBeRead() async throws {
        source.set([key("old")], of: alice)
        let provider = provider()
        _ = try await token(provider)
        source.set([], of: alice, fails: true)
        await #expect(throws: TokenError.signingKeysUnreadable) { try await token(provider) }
        #expect(await provider.expiry == nil)
        source.set([key("new")], of: alice)
        #expect(kid(try await token(provider)) == "new")
    }

    // MARK: - Import

    @Test func aKeyFileHoldsWhatItsSettingWould() throws {
        func secret(_ text: String, _ algorithm: SigningAlgorithm, of did: DID) throws -> [UInt8] {
            try SigningKeyContent.secret(in: Array(text.utf8), algorithm, of: did, setting: "--file")
        }
        let shared = "a secret of thirty-two bytes ok!"
        #expect(try secret(shared, .hs256, of: alice) == Array(shared.utf8))
        let number = try #require(Hex.decode(Vector.keyHex.utf8))
        #expect(try secret(Vector.keyHex, .es256k, of: Vector.did) == number)
        #expect(throws: TokenError.keyMismatch) { try secret(Vector.keyHex, .es256k, of: alice) }
        #expect(throws: TokenError.unsupportedDID) {
            try secret(Vector.keyHex, .es256k, of: try #require(DID("did:peer:0zabc")))
        }
        #expect {
            try secret("nonsense", .es256k, of: alice)
        } throws: {
            if case TokenError.fileInvalid = $0 { true } else { false }
        }
    }

    @Test func theNameOfAKeyDoesNotRevealIt() {
        let kid = SigningKeyContent.kid(of: Array("a secret".utf8))
        #expect(kid.wholeMatch(of: /[0-9a-f]{12}/) != nil)
        #expect(kid == SigningKeyContent.kid(of: Array("a secret".utf8)))
        #expect(kid != SigningKeyContent.kid(of: Array("a secreu".utf8)))
        for good in ["a", "2026-01", "A.b_c-9", String(repeating: "x", count: 64)] { #expect(good.isPlainName) }
        for bad in ["", "a b", "a\"", "ä", "a/b", String(repeating: "x", count: 65)] { #expect(!bad.isPlainName) }
    }

    @Test func aKeyPrintsNoSecret() {
        var text = ""
        dump([key("new")], to: &text)
        text += "\(key("new"))" + String(reflecting: key("new")) + "\([key("new")])"
        #expect(!text.contains("secret"))
        #expect(!text.contains("115, 101, 99"))
    }
}
