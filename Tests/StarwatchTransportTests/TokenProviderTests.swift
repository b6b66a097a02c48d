import Foundation
import StarwatchCore
import Testing

@testable import StarwatchTransport

@Suite struct TokenProviderTests {
    private let directory = TemporaryDirectory()
    private let now = Vector.issuedAt
    private let alice = DID("did:ethr:0x1111111111111111111111111111111111111111")!

    private func secretFile(
        _ content: String = "a secret of thirty-two bytes ok!",
        name: String = "secret"
    ) -> SecretFile {
        SecretFile(path: directory.write(name, content), setting: "auth.file")
    }

    private func keyProvider(_ content: String = Vector.keyHex) -> KeyFileTokenProvider {
        KeyFileTokenProvider(.es256k, file: secretFile(content), terms: TokenTerms(lifetime: .seconds(60)))
    }

    private func payload(_ token: AccessToken?) throws -> String {
        let parts = try #require(token).rawValue.split(separator: ".")
        return String(decoding: try #require(Base64.decodeURL(parts[1])), as: UTF8.self)
    }

    // MARK: - All kinds

    @Test func anonymousProviderReturnsNoToken() async throws {
        let provider = AnonymousTokenProvider()
        #expect(try await provider.token(for: alice, dialect: .canonical, purpose: .poll, serverTime: now) == nil)
        #expect(await provider.poolRemaining == nil)
    }

    @Test func tokensAndErrorsPrintNoSecrets() async throws {
        let token = AccessToken(rawValue: "hush", expiresAt: now)
        #expect("\(token)" == "<token>")
        #expect(String(reflecting: [token]).contains("hush") == false)
        #expect("\(try #require(Secp256k1PrivateKey(Hex.decode(Vector.keyHex.utf8)!)))" == "<key>")
        var text = ""
        dump(token, to: &text)
        #expect(!text.contains("hush"))
    }

    /// A change of identity drops all minted and fetched tokens.
    @Test func aForgottenTokenIsNotHandedOutAgain() async throws {
        let count = Counter()
        let providers: [any TokenProvider] = [
            KeyFileTokenProvider(.hs256, file: secretFile()),
            KeyFileTokenProvider(.es256k, file: secretFile(Vector.keyHex, name: "key")),
            CommandTokenProvider(argv: ["x"], runCommand: { _ in "token\(await count.next())" }),
        ]
        for provider in providers {
            func token() async throws -> String? {
                try await provider.token(for: Vector.did, dialect: .canonical, purpose: .poll, serverTime: now)?
                    .rawValue
            }
            let first = try await token()
            #expect(first != nil)
            #expect(try await token() == first)
            #expect(await provider.expiry != nil)
            await provider.forget()
            #expect(await provider.expiry == nil)
            #expect(try await token() != first)
        }
    }

    private actor Counter {
        private var value = 0

        func next() -> Int {
            value += 1
            return value
        }
    }

    // MARK: - DID key

    @Test func theVectorIsReproducedByteForByte() async throws {
        let token = try await keyProvider().token(
            for: Vector.did,
            dialect: .endorser,
            purpose: .poll,
            serverTime: now
        )
        #expect(token?.rawValue == Vector.token)
        #expect(token?.expiresAt == now + .seconds(60))
    }

    @Test func keyOfAnotherDIDIsRejected() async throws {
        let provider = keyProvider()
        await #expect(throws: TokenError.keyMismatch) { try await provider.validate(account: alice) }
        await #expect(throws: TokenError.unsupportedDID) {
            try await provider.validate(account: DID("did:peer:0zabc")!)
        }
        try await provider.validate(account: DID(Vector.did.rawValue.lowercased())!)
        await #expect(throws: TokenError.keyMismatch) {
            try await provider.token(for: alice, dialect: .endorser, purpose: .poll, serverTime: now)
        }
    }

    @Test func unusableKeyFileIsRejected() async {
        let provider = keyProvider("not a key")
        for _ in 0..<2 {
            await #expect {
                try await provider.validate(account: Vector.did)
            } throws: {
                if case TokenError.fileInvalid = $0 { true } else { false }
            }
        }
    }

    @Test func tokenIsKeptForHalfOfItsLifetime() async throws {
        let provider = keyProvider()
        func token(after seconds: Int64) async throws -> AccessToken? {
            try await provider.token(
                for: Vector.did,
                dialect: .endorser,
                purpose: .poll,
                serverTime: now + .seconds(seconds)
            )
        }
        let first = try await token(after: 0)
        #expect(try await token(after: 29) == first)
        let second = try await token(after: 30)
        #expect(second != first)
        #expect(await provider.expiry == now + .seconds(90))
    }

    /// The first token can be minted before the server's clock was measured.
    @Test(arguments: [(Dialect.canonical, 30), (.endorser, 300)] as [(Dialect, Int64)])
    func aTokenOfAClockThatWasTooFarAheadIsReplaced(dialect: Dialect, tolerance: Int64) async throws {
        let provider = KeyFileTokenProvider(.hs256, file: secretFile())
        func token(at time: Timestamp) async throws -> AccessToken? {
            try await provider.token(for: alice, dialect: dialect, purpose: .poll, serverTime: time)
        }
        let ahead = try await token(at: now + .seconds(600))
        #expect(try await token(at: now + .seconds(600 - tolerance)) == ahead)
        let replaced = try await token(at: now + .seconds(599 - tolerance))
        #expect(replaced != ahead)
        #expect(try await token(at: now + .seconds(600 - tolerance)) == replaced)
    }

    // MARK: - Shared secret

    @Test func canonicalClaimsMatchTheRequirements() async throws {
        let provider = KeyFileTokenProvider(.hs256, file: secretFile(), terms: TokenTerms(makeID: { "id-1" }))
        let token = try await provider.token(for: alice, dialect: .canonical, purpose: .poll, serverTime: now)
        let did = alice.rawValue
        #expect(
            try payload(token)
                == #"{"iss":"\#(did)","sub":"\#(did)","aud":"endorser-api","exp":1767229200,"iat":1767225600,"#
                + #""scope":"notifications","jti":"id-1"}"#
        )
    }

    @Test func endorserTokensHaveNoAudience() async throws {
        let provider = KeyFileTokenProvider(.hs256, file: secretFile())
        let token = try await provider.token(for: alice, dialect: .endorser, purpose: .poll, serverTime: now)
        #expect(try payload(token) == #"{"exp":1767229200,"iat":1767225600,"iss":"\#(alice.rawValue)"}"#)
    }

    @Test func aServerCanAskForAnotherScope() async throws {
        let provider = KeyFileTokenProvider(
            .hs256,
            file: secretFile(),
            terms: TokenTerms(scope: "notifications:read offers:read")
        )
        let token = try #require(
            try await provider.token(for: alice, dialect: .canonical, purpose: .poll, serverTime: now)
        )
        #expect(try payload(token).contains(#""scope":"notifications:read offers:read""#))
        let other = try await provider.token(for: alice, dialect: .endorser, purpose: .poll, serverTime: now)
        #expect(try payload(other).contains("scope") == false)
    }

    @Test func theSignatureIsHMACOfHeaderAndPayload() async throws {
        // The example of RFC 7515, A.1 has another header; another implementation computed this value.
        let file = secretFile("a secret of thirty-two bytes ok!")
        let provider = KeyFileTokenProvider(.hs256, file: file, terms: TokenTerms(lifetime: .seconds(60)))
        let token = try await provider.token(
            for: DID("did:ethr:0x0")!,
            dialect: .endorser,
            purpose: .poll,
            serverTime: now
        )
        #expect(
            token?.rawValue
                == "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJleHAiOjE3NjcyMjU2NjAsImlhdCI6MTc2NzIyNTYwMCwiaXNzIjoiZGlkOmV0aHI6MHgwIn0.vp0s0c-nMmgpx11Q7CoCgigVl6njUs9eIVb5R4zh5Jw"
        )
    }

    /// RFC 7518, section 3.2. The error tells the length and not the secret.
    @Test(arguments: [1, 31])
    func aSecretOfFewerThan32BytesIsRefused(count: Int) async throws {
        let content = String(repeating: "q", count: count)
        let provider = KeyFileTokenProvider(.hs256, file: secretFile(content))
        let error = await #expect(throws: TokenError.self) { try await provider.validate(account: alice) }
        #expect(error?.description.contains("it has \(count) bytes, and HS256 needs 32 or more") == true)
        #expect(error?.description.contains("qq") == false)
        #expect(throws: TokenError.self) {
            try SigningKeyContent.secret(in: Array(content.utf8), .hs256, of: alice, setting: "--file")
        }
    }

    @Test func quotesInADIDDoNotBreakThePayload() async throws {
        let did = try #require(DID(#"did:x:a"b\c"#))
        let provider = KeyFileTokenProvider(.hs256, file: secretFile())
        let token = try await provider.token(for: did, dialect: .canonical, purpose: .poll, serverTime: now)
        #expect(CompactJWT.peek(try #require(token).rawValue)?.iss == did.rawValue)
    }

    @Test func pollsShareATokenAndAcknowledgementsDoNot() async throws {
        let provider = KeyFileTokenProvider(.hs256, file: secretFile())
        func token(_ purpose: TokenPurpose) async throws -> AccessToken? {
            try await provider.token(for: alice, dialect: .canonical, purpose: purpose, serverTime: now)
        }
        let poll = try await token(.poll)
        let acknowledgements = [try await token(.acknowledge), try await token(.acknowledge)]
        #expect(try await token(.poll) == poll)
        #expect(Set(acknowledgements + [poll]).count == 3)
    }

    @Test func aTokenIsReplacedTenMinutesBeforeItExpires() async throws {
        let provider = KeyFileTokenProvider(.hs256, file: secretFile())
        func token(after seconds: Int64) async throws -> AccessToken? {
            try await provider.token(
                for: alice,
                dialect: .canonical,
                purpose: .poll,
                serverTime: now + .seconds(seconds)
            )
        }
        let first = try await token(after: 0)
        #expect(try await token(after: 2999) == first)
        #expect(try await token(after: 3000) != first)
    }

    @Test func rejectedTokenIsNotHandedOutAgain() async throws {
        let provider = KeyFileTokenProvider(.hs256, file: secretFile())
        func token() async throws -> AccessToken {
            try #require(
                try await provider.token(for: alice, dialect: .canonical, purpose: .poll, serverTime: now)
            )
        }
        let first = try await token()
        await provider.refuse(AccessToken(rawValue: "another", expiresAt: nil), for: .poll)
        #expect(try await token() == first)
        await provider.refuse(first, for: .poll)
        #expect(await provider.expiry == nil)
        #expect(try await token() != first)
    }

    /// Each of many accounts has a provider of its own, so that none drops another's token.
    @Test func providersWithTheSameTermsShowTheExpiryOfTheLastToken() async throws {
        let terms = TokenTerms()
        let (file, later) = (secretFile(), now + .seconds(100))
        let providers = (0..<2).map { _ in KeyFileTokenProvider(.hs256, file: file, terms: terms) }
        func token(_ index: Int, at time: Timestamp) async throws -> AccessToken? {
            try await providers[index].token(for: alice, dialect: .canonical, purpose: .poll, serverTime: time)
        }
        let first = try #require(try await token(0, at: now))
        let second = try #require(try await token(1, at: later))
        #expect(try await token(0, at: later) == first)
        for provider in providers { #expect(await provider.expiry == second.expiresAt) }
        // One that keeps none changes nothing.
        await KeyFileTokenProvider(.hs256, file: file, terms: terms).forget()
        #expect(await providers[0].expiry == second.expiresAt)
        // Neither does one that kept its token before.
        await providers[0].forget()
        #expect(await providers[1].expiry == second.expiresAt)
        await providers[1].forget()
        #expect(await providers[0].expiry == nil)
    }

    @Test func noTokenIsGivenToAnotherAccountOrDialect() async throws {
        let provider = KeyFileTokenProvider(.hs256, file: secretFile())
        var issuers: Set<String?> = []
        for (account, dialect) in [(alice, Dialect.canonical), (Vector.did, .canonical), (alice, .endorser)] {
            let token = try await provider.token(for: account, dialect: dialect, purpose: .poll, serverTime: now)
            let claims = CompactJWT.parse(try #require(token).rawValue)?.payload
            #expect(claims?.iss == account.rawValue)
            #expect((claims?.aud != nil) == (dialect == .canonical))
            issuers.insert(claims?.iss)
        }
        #expect(issuers.count == 2)
    }

    @Test func newSecretDropsTheKeptToken() async throws {
        let provider = KeyFileTokenProvider(.hs256, file: secretFile(), terms: TokenTerms(makeID: { "same" }))
        func token() async throws -> AccessToken? {
            try await provider.token(for: alice, dialect: .canonical, purpose: .poll, serverTime: now)
        }
        let first = try await token()
        let other = directory.write("other", "another secret, also of 32 bytes or more")
        #expect(rename(other, directory.path + "/secret") == 0)
        #expect(try await token() != first)
    }

    @Test func aNewSecretThatIsRefusedStopsTokensUntilItIsCorrected() async throws {
        let provider = KeyFileTokenProvider(.hs256, file: secretFile(), terms: TokenTerms(makeID: { "same" }))
        func token() async throws -> AccessToken? {
            try await provider.token(for: alice, dialect: .canonical, purpose: .poll, serverTime: now)
        }
        let first = try await token()
        #expect(rename(directory.write("short", "too short"), directory.path + "/secret") == 0)
        for _ in 0..<2 { await #expect(throws: TokenError.self) { try await token() } }
        let good = directory.write("good", "another secret, also of 32 bytes or more")
        #expect(rename(good, directory.path + "/secret") == 0)
        #expect(try await token() != first)
    }

    /// The second secret has the size and the time of the first, so only a provider that reads the file again finds it.
    @Test func aSharedSecretIsReadOnceForAllAccounts() async throws {
        let path = directory.write("shared", String(repeating: "a", count: 32))
        let time = [FileAttributeKey.modificationDate: Date(timeIntervalSince1970: 1_767_225_600)]
        try FileManager.default.setAttributes(time, ofItemAtPath: path)
        let providers = (0..<2).map { _ in
            KeyFileTokenProvider(
                .hs256,
                file: SecretFile(path: path, setting: "auth.file"),
                terms: TokenTerms(makeID: { "same" })
            )
        }
        func token(_ provider: KeyFileTokenProvider, for account: DID) async throws -> String? {
            try await provider.token(for: account, dialect: .canonical, purpose: .poll, serverTime: now)?.rawValue
        }
        let expected = try await token(providers[0], for: Vector.did)
        #expect(try await token(providers[1], for: alice) != expected)
        let file = try #require(FileHandle(forWritingAtPath: path))
        try file.write(contentsOf: Data(repeating: UInt8(ascii: "b"), count: 32))
        try file.close()
        try FileManager.default.setAttributes(time, ofItemAtPath: path)
        #expect(try await token(providers[1], for: Vector.did) == expected)
    }

    // MARK: - Command

    @Test func commandTokenIsKeptForItsOwnLifetime() async throws {
        let runs = Tally()
        let expiry = now + .seconds(60)
        let provider = CommandTokenProvider(argv: ["mint", "it"]) { argv in
            runs.add(argv == ["mint", "it"] ? 1 : 100)
            return " " + Self.unsigned(#"{"exp":\#(expiry.wholeSeconds)}"#) + "\n"
        }
        for (seconds, count) in [(Int64(0), 1), (29, 1), (30, 2)] {
            let token = try await provider.token(
                for: alice,
                dialect: .endorser,
                purpose: .poll,
                serverTime: now + .seconds(seconds)
            )
            #expect(token?.expiresAt == expiry)
            #expect(runs.value == count)
        }
    }

    @Test(arguments: ["", "two words", "line\nline", "Bearer abc", "a\u{7}"])
    func invalidCommandOutputIsRejected(output: String) async {
        let provider = CommandTokenProvider(argv: ["x"]) { _ in output }
        await #expect(throws: TokenError.commandOutput) {
            try await provider.token(for: alice, dialect: .endorser, purpose: .poll, serverTime: now)
        }
    }

    @Test func tokenOfAnotherAccountIsRejected() async throws {
        let ours = Self.unsigned(#"{"iss":"\#(alice.rawValue)"}"#)
        let theirs = Self.unsigned(#"{"iss":"did:ethr:0xb0b"}"#)
        let provider = CommandTokenProvider(argv: [ours]) { $0[0] }
        _ = try await provider.token(for: alice, dialect: .endorser, purpose: .poll, serverTime: now)
        let other = CommandTokenProvider(argv: [theirs]) { $0[0] }
        await #expect(throws: TokenError.commandOutput) {
            try await other.token(for: alice, dialect: .endorser, purpose: .poll, serverTime: now)
        }
    }

    @Test func failedCommandIsAnErrorWithoutItsOutput() async {
        struct Hush: Error {}
        let provider = CommandTokenProvider(argv: ["x"]) { _ in throw Hush() }
        await #expect(throws: TokenError.commandFailed) {
            try await provider.token(for: alice, dialect: .endorser, purpose: .poll, serverTime: now)
        }
    }

    static func unsigned(_ payload: String) -> String {
        "e30." + Base64.encodeURL(Array(payload.utf8)) + ".c2ln"
    }
}
