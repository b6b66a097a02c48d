import StarwatchCore
import Testing

@Suite struct PlanIDRuleTests {
    @Test(arguments: [
        "https://endorser.ch/entity/01JWMCKG0022HDXJ4G4Q61XV37", "https://example.org/projects/7", "urn:uuid:1",
    ])
    func anIRICanExistOnAnEndorserServer(id: String) {
        #expect(PlanIDRule.canExist(id, in: .endorser))
    }

    @Test(arguments: [
        "", "plan 7", "plan/7", "01JWMCKG0022HDXJ4G4Q61XV37", "https://endorser.ch/entity/…",
        "https://endorser.ch/entity/01JWMCKG0022HDXJ4G4Q61XV3", "https://endorser.ch/entity/01jwmckg0022hdxj4g4q61xv37",
        "https:", ":plan", "https://example.org/a b", "did:ethr:0xabc",
    ])
    func otherTextsCannot(id: String) {
        #expect(!PlanIDRule.canExist(id, in: .endorser))
    }

    /// The app copies a link to a project, which has the end of the identifier only.
    @Test(arguments: [
        "https://timesafari.app/deep-link/project/01JWMCKG0022HDXJ4G4Q61XV37", "01JWMCKG0022HDXJ4G4Q61XV37",
        "https://app.test/project/https%3A%2F%2Fendorser.ch%2Fentity%2F01JWMCKG0022HDXJ4G4Q61XV37?x=1",
        "https://endorser.ch/entity/01JWMCKG0022HDXJ4G4Q61XV37",
    ])
    func aLinkToAProjectStandsForItsIdentifier(text: String) {
        let id = "https://endorser.ch/entity/01JWMCKG0022HDXJ4G4Q61XV37"
        #expect(PlanIDRule.expanded(text, in: .endorser) == id)
        #expect(PlanIDRule.expanded(text, in: .canonical) == text)
        // No plan has the link itself, so it must not be stored as one.
        #expect(PlanIDRule.canExist(text, in: .endorser) == (text == id))
        for other in ["", "plan 7", "https://a.test/project/", "https://example.org/projects/7"] {
            #expect(PlanIDRule.expanded(other, in: .endorser) == other)
        }
    }

    /// A wrong identifier is rejected only where it certainly is one.
    @Test(arguments: [
        ("https://api.endorser.ch", true), ("https://test-api.endorser.ch:443/x", true), ("https://server.test", false),
        ("https://endorser.ch.test", false), ("https://notendorser.ch", false), ("", false),
    ])
    func onlyEndorsersOwnServersCertainlyHaveItsIdentifiers(server: String, isCertain: Bool) {
        #expect(PlanIDRule.certainDialect(nil, server: server) == (isCertain ? .endorser : .canonical))
        #expect(PlanIDRule.certainDialect(.endorser, server: server) == .endorser)
        #expect(PlanIDRule.certainDialect(.canonical, server: server) == .canonical)
    }

    @Test func aCanonicalServersHandleIsAnyTextWithoutBlanks() {
        #expect(PlanIDRule.canExist("test_project_1", in: .canonical))
        #expect(!PlanIDRule.canExist("test project", in: .canonical))
        #expect(!PlanIDRule.canExist("", in: .canonical))
        #expect(!PlanIDRule.canExist("did:ethr:0xYOUR", in: .canonical), "a DID is copied from beside it")
    }
}
