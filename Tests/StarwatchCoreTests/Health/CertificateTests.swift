import StarwatchCore
import Testing

@Suite struct CertificateTests {
    private let now = Timestamp(seconds: 1_767_225_600)

    private func problem(_ owner: CertificateOwner = .server, in left: Duration) -> Problem? {
        Certificate(of: owner, expiry: now + left).problem(now: now)
    }

    @Test(arguments: [
        (Duration.seconds(14 * 86_400), nil as Problem.Kind?), (.seconds(14 * 86_400 - 1), .certificateRenewalDue),
        (.seconds(2 * 86_400), .certificateRenewalDue), (.seconds(2 * 86_400 - 1), .certificateExpiring),
        (.seconds(1), .certificateExpiring), (.zero, .certificateExpired), (.seconds(-86_400), .certificateExpired),
    ])
    func anExpiryIsAProblemOfItsDistance(left: Duration, kind: Problem.Kind?) {
        #expect(problem(in: left)?.kind == kind)
    }

    @Test func theGravityRisesWithTheDistance() {
        #expect(Problem.Kind.certificateRenewalDue.severity == .info)
        #expect(Problem.Kind.certificateExpiring.severity == .warning)
        #expect(Problem.Kind.certificateExpired.severity == .critical)
    }

    @Test func theProblemSaysWhoseCertificateItIsAndWhen() {
        let soon = problem(.port("http"), in: .seconds(3 * 86_400))
        #expect(soon?.title == "The certificate of port http expires in 3 d")
        #expect(soon?.word == "certificate_renewal_due:port:http" && soon?.reason == "http")
        #expect(soon?.since == now - .seconds(11 * 86_400))
        let over = problem(in: .seconds(-60))
        #expect(over?.phrase == "the certificate of the server has expired")
        #expect(over?.subject == "server" && over?.reason == "server" && over?.since == now - .seconds(60))
        // Its last connection can be long ago.
        let sink = problem(.sink("hook"), in: .seconds(-60))
        #expect(sink?.phrase == "the certificate of sink hook expired, unless it was renewed since its last connection")
        #expect(sink?.kind == .certificateExpiring && sink?.subject == "hook" && sink?.reason == nil)
        #expect(problem(in: .seconds(60))?.phrase == "the certificate of the server expires in 1 min")
    }

    /// A sink can have the name of a port.
    @Test(arguments: [CertificateOwner.server, .port("http"), .sink("http")])
    func anOwnerReadsBackFromItsWord(owner: CertificateOwner) {
        #expect(CertificateOwner(word: owner.word) == owner)
    }

    @Test func theWholeChainCountsWithoutWhatNobodyNeeds() {
        func expiry(_ seconds: Int...) -> Timestamp? {
            Certificate.expiry(ofChain: seconds.map { now + .seconds($0) }, now: now)
        }
        #expect(expiry() == nil && Certificate.expiry(ofChain: [nil, now], now: now) == nil)
        #expect(expiry(100, 200) == now + .seconds(100))
        #expect(expiry(200, 100, 300) == now + .seconds(100))
        // Servers send expired cross-signatures of authorities beside what clients need.
        #expect(expiry(200, -100, 300) == now + .seconds(200))
        #expect(expiry(-1, 300) == now - .seconds(1))
    }

    @Test(arguments: [
        ("Nov  6 08:49:37 2027 GMT", "2027-11-06T08:49:37.000Z"),
        ("Nov 26 12:03:10 2036 GMT", "2036-11-26T12:03:10.000Z"),
        ("2027-11-06 08:49:37 GMT", "2027-11-06T08:49:37.000Z"),
    ])
    func theDatesOfLibcurlAreRead(text: String, time: String) {
        #expect(Certificate.date(text)?.iso8601 == time)
    }

    @Test(arguments: [
        "", "GMT", "Nov 31 08:49:37 2027 GMT", "Nov  6 08:49:37 2027", "2027-11-06 08:49:37 CET", "a b c d GMT",
    ])
    func anyOtherDateIsUnknown(text: String) {
        #expect(Certificate.date(text) == nil)
    }
}
