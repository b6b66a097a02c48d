import StarwatchCore
import Testing

@Suite struct DIDTests {
    @Test(arguments: ["did:ethr:0x1234", "did:web:example.com:user", "did:key:z6Mk#a?b/c"])
    func identifiersAreKeptByteForByte(text: String) throws {
        #expect(try #require(DID(text)).rawValue == text)
    }

    @Test(arguments: [
        "", "did", "did:", "did:ethr", "did:ethr:", "did::x", "DID:ethr:x", "did:Ethr:x", "did:ethr:a b",
        "did:ethr:\u{e9}", "x:ethr:y", "did:ethr:a\n",
    ])
    func otherTextsAreRejected(text: String) {
        #expect(DID(text) == nil)
    }

    @Test func identifiersHaveALimit() {
        #expect(DID("did:x:" + String(repeating: "a", count: 2042)) != nil)
        #expect(DID("did:x:" + String(repeating: "a", count: 2043)) == nil)
    }

    @Test(arguments: [
        "did:ethr:0xF3beAC30C498D9E26865F34fCAa57dBB935b0D74", "did:web:example.com",
        "did:ethr:sepolia:0xF3beAC30C498D9E26865F34fCAa57dBB935b0D74",
    ])
    func aDIDThatCanExistHasNoTypingProblem(text: String) { #expect(DID.typingProblem(text) == nil) }

    @Test(arguments: [
        ("me", "must be a DID"), ("did:ethr:0xYOUR_ADDRESS", "placeholder"),
        ("did:ethr:0xF3beAC30C498D9E26865F34fCAa57dBB935b0D7", "it has 39 digits"),
        ("did:ethr:F3beAC30C498D9E26865F34fCAa57dBB935b0D74", "other characters"),
    ])
    func aMistypedDIDIsExplainedWithoutIt(text: String, says: String) throws {
        let problem = try #require(DID.typingProblem(text))
        #expect(problem.contains(says) && !problem.contains("F3be"))
    }

    @Test func identifiersAreNeverPrinted() throws {
        let did = try #require(DID("did:ethr:0xsecret"))
        let key = StreamKey(account: did, server: "https://example.com", poll: try #require(PollName("p")))
        for text in ["\(did)", String(reflecting: did), "\(key)", "\(Optional(did) as Any)"] {
            #expect(!text.contains("secret"), "\(text)")
        }
    }
}
