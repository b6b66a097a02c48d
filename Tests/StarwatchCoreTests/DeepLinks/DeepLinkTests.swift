import StarwatchCore
import Testing

@Suite struct DeepLinkTests {
    private static let jwt = "1767225600_Ab3xYz_0123abcd"
    private static let ulid = "01KDV8Y8000000000000000000"

    @Test(arguments: [
        "timesafari://notifications/starred-projects", "timesafari://features/starred-projects",
        "timesafari://projects/updates?shortlink=abc123def456789", "timesafari://projects/updates?jwtIds=\(jwt)",
        "timesafari://projects/updates?jwtIds=\(jwt),\(ulid)", "timesafari://projects/garden_1/details",
        "timesafari://projects/garden-1/details?jwtId=\(jwt)",
        "timesafari://projects/https%3A%2F%2Fendorser.ch%2Fentity%2F01ABC/details?jwtId=\(ulid)",
    ])
    func everyRouteParsesAndRenders(_ url: String) throws {
        #expect(try DeepLink(parsing: url).url == url)
    }

    @Test(arguments: [
        ("https://projects/updates", DeepLinkError.notALink), ("", .notALink), ("timesafari:/projects", .notALink),
        ("timesafari://", .unknownRoute), ("timesafari://projects", .unknownRoute),
        ("timesafari://projects/updates/", .unknownRoute), ("timesafari://projects/a/b/details", .unknownRoute),
        ("timesafari://notifications/other", .unknownRoute), ("timesafari://projects/updates#x", .unknownRoute),
        ("timesafari://projects/updates", .missingParameter), ("timesafari://projects/updates?", .missingParameter),
        ("timesafari://projects/updates?jwtIds=", .invalidJWT),
        ("timesafari://projects/updates?jwtIds=\(jwt),", .invalidJWT),
        ("timesafari://projects/updates?jwtIds=secret", .invalidJWT),
        ("timesafari://projects/updates?jwtId=\(jwt)", .unknownParameter),
        ("timesafari://projects/updates?jwtIds=\(jwt)&shortlink=x", .conflictingParameters),
        ("timesafari://projects/updates?shortlink=x&shortlink=y", .repeatedParameter),
        ("timesafari://projects/updates?shortlink=", .invalidShortlink),
        ("timesafari://projects/updates?shortlink=a%20b", .invalidShortlink),
        ("timesafari://notifications/starred-projects?x=1", .unknownParameter),
        ("timesafari://features/starred-projects?shortlink=x", .unknownParameter),
        ("timesafari://projects//details", .invalidProject), ("timesafari://projects/%/details", .invalidProject),
        ("timesafari://projects/%FF/details", .invalidProject), ("timesafari://projects/%0A/details", .invalidProject),
        ("timesafari://projects/../details", .invalidProject),
        ("timesafari://projects/a/details?jwtIds=\(jwt)", .unknownParameter),
        ("timesafari://projects/a/details?jwtId=secret", .invalidJWT),
    ])
    func invalidLinksAreRejectedByTheRulesOfTheirRoute(_ url: String, _ expected: DeepLinkError) {
        #expect(throws: expected) { try DeepLink(parsing: url) }
    }

    @Test func elevenJWTsNeedAShortlink() throws {
        let ids = Array(repeating: Self.jwt, count: 11).joined(separator: ",")
        #expect(throws: DeepLinkError.tooManyJWTs) {
            try DeepLink(parsing: "timesafari://projects/updates?jwtIds=\(ids)")
        }
        let jwt = try #require(JWTID(Self.jwt))
        #expect(LinkedJWTs(Array(repeating: jwt, count: 11)) == nil)
        #expect(LinkedJWTs([]) == nil)
    }

    @Test func errorsAreOneSentenceWithoutLinkContent() {
        for error in DeepLinkError.allCases {
            #expect(error.description.hasSuffix(".") && !error.description.contains("\n"))
            #expect(!error.description.contains("secret") && !error.description.contains(Self.jwt))
        }
    }

    @Test func anInvalidHandleFallsBackToTheUpdates() throws {
        let jwt = try #require(JWTID(Self.jwt))
        #expect(DeepLink(plan: "a\nb", jwt: jwt) == .updates(LinkedJWTs(jwt)))
        #expect(DeepLink(plan: "..", jwt: jwt) == .updates(LinkedJWTs(jwt)))
    }

    /// Every link parses back to itself, and no link of updates has more than ten JWT IDs.
    @Test func linksRoundTrip() throws {
        var random = SplitMix64(seed: 11)
        let pieces = [
            "https://endorser.ch/entity/", "did:ethr:0xAB", "é", "🌻", " ", "/", "%", "?", "#", "&", "=", "a1",
        ]
        func jwt() -> JWTID {
            let kind: IDKind = Bool.random(using: &random) ? .ulid : .timestamped
            let seconds = Int64.random(in: 0...4_000_000_000, using: &random)
            return .floor(kind, at: Timestamp(seconds: seconds))
        }
        for _ in 0..<2000 {
            let handle = (0..<Int.random(in: 1...6, using: &random)).map { _ in
                pieces.randomElement(using: &random)!
            }.joined()
            let jwts = (0..<Int.random(in: 1...14, using: &random)).map { _ in jwt() }
            let token = String(UInt64.random(in: 0...UInt64.max, using: &random), radix: 36)
            var links: [DeepLink] = [
                DeepLink(plan: handle, jwt: jwt()), .notifications, .feature,
                .project(try #require(ProjectHandle(handle)), jwt: nil),
                .shortlink(try #require(Shortlink(token))),
            ]
            links += LinkedJWTs(jwts).map { [.updates($0)] } ?? []
            #expect((LinkedJWTs(jwts) == nil) == (jwts.count > 10))
            for link in links {
                let url = link.url
                #expect(url.utf8.allSatisfy { (33...126).contains($0) })
                #expect(try DeepLink(parsing: url) == link)
            }
        }
    }

    @Test(arguments: 1...40, [1, 5, 20, 100])
    func notificationLinksContainAtMostTenJWTs(_ count: Int, _ largest: Int) throws {
        let changes = (0..<count).map {
            Change(
                id: .floor(.ulid, at: Timestamp(seconds: 1_767_225_600 + Int64($0))),
                plan: "https://e.ch/1",
                name: nil
            )
        }
        let needs = NotificationMessage.needsShortlink(count, largestGroup: largest)
        let message = NotificationMessage(
            id: "ntf_1",
            runID: "run_1",
            poll: try #require(PollName("poll")),
            kind: .starredProjects,
            changes: changes,
            context: NotificationContext(largestGroup: largest, shortlink: needs ? Shortlink("abc") : nil),
            createdAt: Timestamp(seconds: 1_767_225_600)
        )
        switch try DeepLink(parsing: message.deepLink) {
        case .updates(let jwts): #expect(jwts.ids == changes.map(\.id) && !needs)
        case .project(_, let jwt): #expect(jwt == changes[0].id && count == 1)
        case .shortlink: #expect(needs && count > 1)
        case .notifications, .feature: Issue.record("the link says nothing of the changes")
        }
    }
}
