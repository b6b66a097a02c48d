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

    @Test func identifiersAreNeverPrinted() throws {
        let did = try #require(DID("did:ethr:0xsecret"))
        let key = StreamKey(account: did, server: "https://example.com", poll: try #require(PollName("p")))
        for text in ["\(did)", String(reflecting: did), "\(key)", "\(Optional(did) as Any)"] {
            #expect(!text.contains("secret"), "\(text)")
        }
    }
}
