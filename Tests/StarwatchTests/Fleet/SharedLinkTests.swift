import Foundation
import MockEndorser
import StarwatchCore
import StarwatchStore
import StarwatchTransport
import Testing

@testable import Starwatch

/// Accounts with tokens that share the requests for everybody's claims.
@Suite(.timeLimit(.minutes(5))) struct SharedLinkTests {
    private static let kinds: [PollKind] = [.givesForMyOffers, .confirmationsOfMyClaims]

    @Test(arguments: kinds) func anUnchangedServerIsAskedOnceForAHundredAccounts(_ kind: PollKind) async throws {
        try await LinkedCrowd.with(kind, accounts: 100) { crowd in
            for _ in 0..<3 {
                crowd.world.mock.forgetRequests()
                await crowd.round()
                let requests = crowd.world.mock.requests()
                #expect(requests.count == 1 && requests[0].header("Authorization") == nil)
                #expect(requests[0].query?.contains(crowd.filter) == true)
            }
            let (first, last) = (crowd.link(to: crowd.claims[7]), crowd.link(to: crowd.claims[99]))
            let before = crowd.pages
            await crowd.round()
            // That of all, and those of the two accounts.
            #expect(crowd.pages == before + 3)
            await crowd.round()
            await crowd.round()
            #expect(crowd.pages == before + 5)
            for index in 0..<100 {
                try #expect(crowd.announced(to: index) == (index == 7 ? [first] : index == 99 ? [last] : []))
            }
        }
    }

    @Test func anAccountFarBehindAsksAloneAndMissesNothing() async throws {
        try await LinkedCrowd.with(.givesForMyOffers) { crowd in
            let removal = IdentityRemoval(did: Crowd.did(0).rawValue)
            _ = try await crowd.agent.perform(ControlAPI.pauseAccount, removal)
            let first = [crowd.link(to: crowd.claims[0]), crowd.link(to: crowd.claims[1])]
            for _ in 0..<10 { await crowd.round() }
            let second = [crowd.link(to: crowd.claims[0]), crowd.link(to: crowd.claims[1])]
            await crowd.round()
            _ = try await crowd.agent.perform(ControlAPI.resumeAccount, removal)
            let before = crowd.pages
            await crowd.round()
            #expect(crowd.pages == before + 2)
            for _ in 0..<3 { await crowd.round() }
            #expect(crowd.pages == before + 5)
            try #expect(crowd.announced(to: 0).sorted() == [first[0], second[0]].sorted())
            try #expect(crowd.announced(to: 1) == [first[1], second[1]])
            try #expect(crowd.announced(to: 2).isEmpty)
        }
    }

    /// The shared answer hides who confirmed, so it does not tell that it was the account.
    @Test func anOwnConfirmationIsNoNewsAlthoughTheSharedAnswerHidesItsIssuer() async throws {
        try await LinkedCrowd.with(.confirmationsOfMyClaims) { crowd in
            crowd.link(to: crowd.claims[3], by: Crowd.did(3))
            let id = crowd.link(to: crowd.claims[4], by: Crowd.did(3))
            let before = crowd.pages
            await crowd.round()
            #expect(crowd.pages == before + 3)
            try #expect(crowd.announced(to: 3).isEmpty)
            try #expect(crowd.announced(to: 4) == [id])
        }
    }

    private static let nobodys = #"{"data":[{"handleId":"a"}]}"#
    private static let page = "HTTP/1.1 200 OK\r\nContent-Length: \(nobodys.utf8.count)\r\n\r\n\(nobodys)"

    @Test(arguments: [MockFault.malformedJSON, .raw(Array(page.utf8)), .status(400)])
    func aPageThatOneAccountCannotUseHoldsUpNoOther(_ fault: MockFault) async throws {
        try await LinkedCrowd.with(.givesForMyOffers) { crowd in
            let ids = [crowd.link(to: crowd.claims[0]), crowd.link(to: crowd.claims[1])]
            crowd.world.mock.script(fault, at: .givesToMe)
            var caller = Operator.program
            caller.account = Crowd.did(0)
            let run = PollRun(crowd.poll.rawValue)
            let report = try await crowd.agent.topics.perform(ControlAPI.runPoll, run, for: caller)
            #expect(report.outcome == "failed")
            for _ in 0..<3 { await crowd.round() }
            try #expect((0..<3).map { try crowd.announced(to: $0) } == [[ids[0]], [ids[1]], []])
        }
    }

    @Test func anAnswerThatIsOfNoUseFailsOnlyItsRequest() async throws {
        try await LinkedCrowd.with(.givesForMyOffers) { crowd in
            let id = crowd.link(to: crowd.claims[1])
            crowd.world.mock.script(.malformedJSON, at: .givesToMe)
            let before = crowd.pages
            await crowd.round()
            #expect(crowd.pages == before + 13)
            try #expect((0..<3).map { try crowd.announced(to: $0) } == [[], [id], []])
        }
    }

    @Test(arguments: [400, 403]) func aRejectedRequestIsNotSentAgainForHours(_ status: Int) async throws {
        try await LinkedCrowd.with(.givesForMyOffers) { crowd in
            crowd.world.mock.script(.status(status), at: .givesToMe)
            var expected = crowd.pages + 1
            for _ in 0..<3 {
                await crowd.round()
                expected += 12
                #expect(crowd.pages == expected)
            }
            // After that time each account needs more than a shared answer has.
            await crowd.round(after: SharedTerms.rejectionLife)
            await crowd.round()
            #expect(crowd.pages == expected + 13)
        }
    }

    /// A claim that links to nobody's makes each account ask for its own.
    @Test func aPollThatAsksForOwnClaimsIsCountedAsAlone() async throws {
        try await LinkedCrowd.with(.givesForMyOffers) { crowd in
            func requests() async throws -> Int? {
                try await crowd.agent.perform(ControlAPI.status).accounts?.roundRequests
            }
            let quiet = try await requests()
            #expect(quiet == 5)
            crowd.link(to: "01JWMCKG0022HDXJ4G4Q610000")
            let before = await crowd.sharedPolls
            await crowd.round()
            #expect(await crowd.sharedPolls == before)
            #expect(try await requests() == 12)
            for _ in 0..<3 { await crowd.round() }
            #expect(await crowd.sharedPolls > before)
            #expect(try await requests() == 5)
        }
    }

    @Test func accountsWithoutTokensShareNothingOfPollsThatNeedThem() {
        for kind in PollKind.allCases {
            #expect(kind.isShared(withTokens: true) == Self.kinds.contains(kind))
            #expect(kind.isShared(withTokens: false) == (kind == .starredProjects))
        }
    }

    /// Random claims, links, faults and pauses, the same with and without shared requests.
    @Test(arguments: kinds) func theChangesAreTheSameAsWithoutSharing(_ kind: PollKind) async throws {
        let alone = try await history(of: kind, sharing: false)
        let shared = try await history(of: kind, sharing: true)
        #expect(shared.heard == alone.heard)
        #expect(alone.heard.contains { $0.count > 5 })
        #expect(shared.polls > 0 && shared.requests < alone.requests)
    }

    /// The numbers of the links that each account was told of.
    private func history(
        of kind: PollKind,
        sharing: Bool
    ) async throws -> (heard: [[Int]], polls: Double, requests: Int) {
        var result: (heard: [[Int]], polls: Double, requests: Int) = ([], 0, 0)
        try await LinkedCrowd.with(kind, sharing: sharing) { crowd in
            var (dice, claims, links) = (Dice(state: 7), crowd.claims, [String: Int]())
            let endpoint: MockEndpoint = kind == .givesForMyOffers ? .givesToMe : .claims
            let faults: [MockFault] = [.status(500), .resetBeforeHead, .malformedJSON, .status(400)]
            for _ in 0..<40 {
                if dice.roll(3) == 0 { claims.append(crowd.claim(of: dice.roll(12))) }
                for _ in 0..<dice.roll(4) {
                    let id = crowd.link(to: claims[dice.roll(claims.count)], by: Crowd.did(dice.roll(12)))
                    links[id] = links.count
                }
                let (chance, number, account) = (dice.roll(10), dice.roll(faults.count), dice.roll(12))
                if chance == 0 { crowd.world.mock.script(faults[number], at: endpoint) }
                if chance == 1 {
                    let removal = IdentityRemoval(did: Crowd.did(account).rawValue)
                    _ = try await crowd.agent.perform(ControlAPI.pauseAccount, removal)
                    for _ in 0..<5 { await crowd.round() }
                    _ = try await crowd.agent.perform(ControlAPI.resumeAccount, removal)
                }
                await crowd.round()
            }
            for _ in 0..<5 { await crowd.round() }
            result.heard = try (0..<12).map { try crowd.announced(to: $0).map { links[$0] ?? -1 }.sorted() }
            (result.polls, result.requests) = (await crowd.sharedPolls, crowd.pages)
        }
        return result
    }
}

/// An agent for many accounts, each of which has a token and one claim.
private struct LinkedCrowd {
    let world: World
    let agent: Agent
    let kind: PollKind
    /// The claim of each account.
    private(set) var claims: [String] = []

    var poll: PollName { PollName(kind.rawValue)! }
    /// The parameter that only requests for pages have.
    var filter: String { kind == .givesForMyOffers ? "fulfillsType=Offer" : "claimType=AgreeAction" }

    /// Makes the accounts, and polls each of them twice: the second poll still fetches what can have become visible late.
    static func with(
        _ kind: PollKind,
        accounts: Int = 12,
        sharing: Bool = true,
        _ body: (LinkedCrowd) async throws -> Void
    ) async throws {
        try await World.with(.endorser, plans: 1, mock: { $0.requestsPerMinute = nil }) { world in
            let agent = try await world.agentOfMany { options in
                (options.auth.kind, options.auth.storedKeys) = (.sharedSecret, true)
                options.polls = [PollOptions(name: PollName(kind.rawValue)!, kind: kind)]
                options.polls[0].timing = .every(.seconds(60))
                options.fleet.sharedRequests = sharing
                options.limits.requestsPerMinute = 100_000
            }
            let dids = (0..<accounts).map(Crowd.did)
            let additions = AccountAdditions(accounts: dids.map { .init(did: $0.rawValue) })
            _ = try await agent.perform(ControlAPI.addAccounts, additions)
            for (index, did) in dids.enumerated() {
                var caller = Operator.program
                caller.account = did
                let secret = Array("a secret of thirty-two bytes ok!".utf8)
                let key = SigningKeyImport(content: secret, kid: "key-\(index)")
                _ = try await agent.topics.perform(ControlAPI.importSigningKey, key, for: caller)
            }
            var crowd = LinkedCrowd(world: world, agent: agent, kind: kind)
            for index in 0..<accounts { crowd.claims.append(crowd.claim(of: index)) }
            // A claim of nobody's shows the server's dialect, without which there is nothing to share.
            crowd.link(to: "01JWMCKG0022HDXJ4G4Q610000")
            await crowd.round(after: .seconds(600))
            await crowd.round()
            try await body(crowd)
        }
    }

    /// The number of requests for pages.
    var pages: Int { world.mock.requests { $0.query?.contains(filter) == true }.count }

    var sharedPolls: Double {
        get async { await agent.page()["starwatch_fleet_shared_polls_total"] ?? 0 }
    }

    /// Visits every account that is due after some time.
    func round(after time: Duration = .seconds(61)) async { await agent.visitAll(after: time, on: world.clock) }

    /// Publishes a claim that others can link to.
    func claim(of index: Int) -> String {
        let did = Crowd.did(index).rawValue
        return kind == .givesForMyOffers
            ? world.mock.publishOffers(count: 1, to: Self.other, by: did)[0]
            : world.mock.publishGives(count: 1, to: Self.other, by: did)[0]
    }

    /// Publishes a gift that honours an offer, or the confirmation of a claim.
    @discardableResult
    func link(to claim: String, by did: DID? = nil) -> String {
        kind == .givesForMyOffers
            ? world.mock.publishGive(fulfilling: "https://endorser.ch/entity/\(claim)", to: Self.other)
            : world.mock.publishConfirmation(of: [claim], by: did?.rawValue)
    }

    func announced(to index: Int) throws -> [String] {
        let name = agent.process.pseudonym.hash(Crowd.did(index))
        return try world.notifications.filter { $0.account == name }.flatMap { $0.changes.map(\.jwt_id) }
    }

    private static let other = "did:ethr:0x00000000000000000000000000000000000000c2"
}
