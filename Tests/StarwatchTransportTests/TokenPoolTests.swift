import Foundation
import StarwatchCore
import Testing

@testable import StarwatchTransport

@Suite struct TokenPoolTests {
    private let directory = TemporaryDirectory()
    private let now = Vector.issuedAt
    private let alice = DID("did:ethr:0xAb11111111111111111111111111111111111111")!

    private func token(expiresIn seconds: Int64?, issuer: String? = nil) -> String {
        var fields: [String] = []
        if let seconds { fields.append(#""exp":\#((now + .seconds(seconds)).wholeSeconds)"#) }
        if let issuer { fields.append(#""iss":"\#(issuer)""#) }
        return TokenProviderTests.unsigned("{\(fields.joined(separator: ","))}")
    }

    private func pool(_ content: String) -> TokenPoolProvider {
        let path = directory.write("pool", content)
        return TokenPoolProvider(file: SecretFile(path: path, setting: "auth.tokens_file", holding: .text))
    }

    private func take(
        _ pool: TokenPoolProvider,
        _ purpose: TokenPurpose = .poll,
        after seconds: Int64 = 0
    ) async throws -> String? {
        try await pool.token(for: alice, dialect: .endorser, purpose: purpose, serverTime: now + .seconds(seconds))?
            .rawValue
    }

    @Test func firstExpiringTokenIsUsedUntilItExpires() async throws {
        let (early, late, past) = (token(expiresIn: 100), token(expiresIn: 200), token(expiresIn: -1))
        let pool = pool([late, past, early].joined(separator: "\n") + "\n\n")
        #expect(try await take(pool) == early)
        #expect(try await take(pool, after: 99) == early)
        #expect(await pool.poolRemaining == 2)
        #expect(await pool.expiry == now + .seconds(100))
        #expect(try await take(pool, after: 100) == late)
        #expect(await pool.poolRemaining == 1)
        await #expect(throws: TokenError.poolEmpty) { try await take(pool, after: 200) }
        #expect(await pool.poolRemaining == 0)
        #expect(await pool.expiry == nil)
    }

    @Test func poolCanBeAJSONArray() async throws {
        let early = token(expiresIn: 100)
        #expect(try await take(pool(" [\"\(token(expiresIn: 200))\", \"\(early)\"]\n")) == early)
    }

    @Test func aTokenWithoutAnExpiryIsUsedLast() async throws {
        let (endless, late) = (token(expiresIn: nil), token(expiresIn: 1_000_000))
        let pool = pool(endless + "\n" + late)
        #expect(try await take(pool) == late)
        #expect(try await take(pool, after: 1_000_000) == endless)
    }

    @Test func rejectedTokenIsSkippedEvenAfterAReread() async throws {
        let (early, late) = (token(expiresIn: 100), token(expiresIn: 200))
        let pool = pool(early + "\n" + late)
        #expect(try await take(pool) == early)
        await pool.refuse(AccessToken(rawValue: early, expiresAt: nil), for: .poll)
        #expect(try await take(pool) == late)
        let middle = token(expiresIn: 150)
        let other = directory.write("other", [early, late, middle].joined(separator: "\n"))
        #expect(rename(other, directory.path + "/pool") == 0)
        #expect(try await take(pool) == middle)
    }

    @Test func acknowledgementUsesAFreshToken() async throws {
        let (early, late) = (token(expiresIn: 100), token(expiresIn: 200))
        let pool = pool(early + "\n" + late)
        #expect(try await take(pool, .acknowledge) == early)
        #expect(try await take(pool, .acknowledge) == late)
        await #expect(throws: TokenError.poolEmpty) { try await take(pool, .acknowledge) }
        #expect(try await take(pool) == early)
    }

    @Test func aTokenThatOnlyAnAcknowledgementWasRefusedForStaysValidForPolls() async throws {
        let (early, late) = (token(expiresIn: 100), token(expiresIn: 200))
        let pool = pool(early + "\n" + late)
        #expect(try await take(pool, .acknowledge) == early)
        await pool.refuse(AccessToken(rawValue: early, expiresAt: nil), for: .acknowledge)
        #expect(try await take(pool, .acknowledge) == late)
        #expect(try await take(pool) == early)
        #expect(await pool.poolRemaining == 2)
    }

    @Test func tokensOfOtherAccountsAreNotUsed() async throws {
        let foreign = token(expiresIn: 50, issuer: "did:ethr:0x2222222222222222222222222222222222222222")
        let own = token(expiresIn: 100, issuer: alice.rawValue.lowercased())
        let pool = pool(foreign + "\n" + own)
        #expect(try await take(pool) == own)
        #expect(await pool.poolRemaining == 1)
    }

    @Test(arguments: ["[1]", "{}", "[", "two words", "a\nb c"]) func invalidContentIsRejected(content: String) async {
        let pool = pool(content)
        await #expect {
            try await pool.validate(account: alice)
        } throws: {
            if case TokenError.fileInvalid = $0 { true } else { false }
        }
    }
}
