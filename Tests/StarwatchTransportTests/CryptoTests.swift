import CSecp256k1
import Foundation
import StarwatchCore
import Testing

@testable import StarwatchTransport

@Suite struct CryptoTests {
    @Test(arguments: [
        ("", "c5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470"),
        ("abc", "4e03657aea45a94fc7d47ba826c8d667c0d1e6e33a64a036ec44f58fa12d6c45"),
        ("testing", "5f16f4c7f149ac4f9510d9cf8cf384038ad348b3bcdc01915f95de12df9d1b02"),
    ])
    func keccakMatchesEthereum(message: String, digest: String) {
        #expect(Hex.encode(Keccak256.hash(Array(message.utf8))) == digest)
    }

    @Test(arguments: [135, 136, 137, 271, 272])
    func keccakDependsOnEveryByteAtBlockBoundaries(count: Int) {
        let message = [UInt8](repeating: 7, count: count)
        let digest = Keccak256.hash(message)
        for index in [0, count / 2, count - 1] {
            var changed = message
            changed[index] ^= 1
            #expect(Keccak256.hash(changed) != digest)
        }
    }

    @Test func vectorKeyHasVectorAddress() throws {
        let key = try #require(Secp256k1PrivateKey(Hex.decode(Vector.keyHex.utf8)!))
        #expect(key.address == EthereumAddress(Vector.did))
        #expect(key.address == EthereumAddress(publicKey: Hex.decode(Vector.publicKeyHex.utf8)!))
    }

    @Test func signatureMatchesDIDJWT() throws {
        let key = try #require(Secp256k1PrivateKey(Hex.decode(Vector.keyHex.utf8)!))
        let digest = CompactJWT.digest(of: "thequickbrownfoxjumpedoverthelazyprogrammer")
        #expect(
            key.sign(digest).map { Base64.encodeURL($0) }
                == "jsvdLwqr-O206hkegoq6pbo7LJjCaflEKHCvfohBP9U2H9EZ5Jsw0CncN17WntoUEGmxaZVF2zQjtUEXfhdyBg"
        )
    }

    /// A context begins with its blinding values.
    @Test func contextsDifferFromProcessToProcess() throws {
        func start(_ seed: UInt8) throws -> [UInt8] {
            let context = try #require(Secp256k1.makeContext(seed: [UInt8](repeating: seed, count: 32)))
            defer { secp256k1_context_destroy(context) }
            return Array(UnsafeRawBufferPointer(start: UnsafeRawPointer(context), count: 64))
        }
        let blinded = try start(1)
        #expect(blinded != (try start(2)))
        #expect(blinded == (try start(1)))
    }

    @Test func randomSignaturesRecoverOnlyTheirKeysAddress() throws {
        let halfOrder = Hex.decode("7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0".utf8)!
        for _ in 0..<1000 {
            let key = try #require(Secp256k1PrivateKey(RandomID.bytes(32)))
            let digest = RandomID.bytes(32)
            let signature = try #require(key.sign(digest))
            #expect(Secp256k1.recoverAddresses(signature: signature, digest: digest).contains(key.address))
            #expect(!halfOrder.lexicographicallyPrecedes(signature[32...]))
            var tampered = signature
            tampered[Int(digest[0]) % 64] ^= 1
            #expect(!Secp256k1.recoverAddresses(signature: tampered, digest: digest).contains(key.address))
        }
    }

    @Test(arguments: [
        [UInt8](repeating: 0, count: 32), [UInt8](repeating: 255, count: 32), [UInt8](repeating: 1, count: 31),
    ])
    func numbersOutsideTheGroupAreRejected(bytes: [UInt8]) {
        #expect(Secp256k1PrivateKey(bytes) == nil)
    }

    @Test(arguments: [
        "did:ethr:0xF3beAC30C498D9E26865F34fCAa57dBB935b0D7",
        "did:ethr:mainnet:0xF3beAC30C498D9E26865F34fCAa57dBB935b0D74",
        "did:key:zQ3shokFTS3brHcDQrn82RUDfCZESWL1ZdCEJwekUDPQiYBme",
        "did:ethr:0xZ3beAC30C498D9E26865F34fCAa57dBB935b0D74",
    ])
    func otherDIDsHaveNoAddress(did: String) {
        #expect(EthereumAddress(DID(did)!) == nil)
    }

    @Test func addressesIgnoreCase() {
        #expect(EthereumAddress(DID(Vector.did.rawValue.lowercased())!) == EthereumAddress(Vector.did))
    }

    @Test(arguments: 0..<20) func base64RoundTrips(count: Int) {
        let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 101 &+ 251) }
        #expect(Base64.decodeURL(Base64.encodeURL(bytes)) == bytes)
        #expect(Base64.decode(Base64.encode(bytes)) == bytes)
        #expect(Base64.encode(bytes) == Data(bytes).base64EncodedString())
    }

    @Test(arguments: ["a", "ab=", "a=b=", "****", "ab+/", "YWE", "zz"])
    func invalidBase64URLIsRejected(text: String) {
        // "YWE" is valid; "zz" has non-zero trailing bits.
        #expect((Base64.decodeURL(text) == nil) == (text != "YWE"))
    }

    @Test func uuidsHaveVersionFour() {
        for _ in 0..<100 {
            let id = RandomID.uuid()
            #expect(UUID(uuidString: id) != nil)
            #expect(Array(id)[14] == "4")
            #expect("89ab".contains(Array(id)[19]))
        }
        #expect(Set((0..<1000).map { _ in RandomID.uuid() }).count == 1000)
    }

    @Test func identityHashesDependOnKeyAndDID() {
        let hash = InstallationHash(key: [1, 2, 3])
        #expect(hash.hash(Vector.did).hasPrefix("did:hash:"))
        #expect(hash.hash(Vector.did).count == 25)
        #expect(hash.hash(Vector.did) == InstallationHash(key: [1, 2, 3]).hash(Vector.did))
        #expect(hash.hash(Vector.did) != InstallationHash(key: [1, 2, 4]).hash(Vector.did))
        #expect(hash.hash(Vector.did) != hash.hash(DID("did:ethr:0x00")!))
    }

    @Test func webhookSignatureMatchesTheSpecification() throws {
        let signer = try #require(WebhookSigner(secrets: [Array("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw".utf8)]))
        let body = Array(#"{"test": 2432232314}"#.utf8)
        let signature = signer.signature(
            id: "msg_p5jXN8AQM9LWM0D4loKWxJek",
            timestamp: Timestamp(seconds: 1_614_265_330),
            body: body
        )
        #expect(signature == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=")
    }

    @Test func severalSecretsGiveSeveralSignatures() throws {
        let old = Array("old secret".utf8)
        let new = Array("new secret".utf8)
        let body = Array("{}".utf8)
        func signature(_ secrets: [[UInt8]]) throws -> String {
            try #require(WebhookSigner(secrets: secrets)).signature(id: "a", timestamp: Vector.issuedAt, body: body)
        }
        #expect(try signature([new, old]) == signature([new]) + " " + signature([old]))
    }

    @Test func invalidWebhookSecretsAreRejected() {
        #expect(WebhookSigner(file: Array("whsec_YQ==\nraw".utf8)) == nil)
        #expect(WebhookSigner(file: Array("whsec_YQ==\nwhsec_!".utf8)) == nil)
        #expect(WebhookSigner(file: Array("raw\nbytes".utf8)) != nil)
        #expect(WebhookSigner(secrets: []) == nil)
        #expect(WebhookSigner(secrets: [[]]) == nil)
        #expect(WebhookSigner(secrets: [Array("whsec_!".utf8)]) == nil)
        #expect(WebhookSigner(secrets: [Array("good".utf8), Array("whsec_".utf8)]) == nil)
    }
}
