import StarwatchCore
import Testing

/// The bounds of shared answers, and the portions of plans.
@Suite struct SharedTermsTests {
    private static let now = Timestamp(seconds: 1_767_225_600)
    private static let quarter = SharedTerms(interval: .seconds(900), gap: .seconds(900))

    private static func plans(_ range: Range<Int>) -> [String] {
        range.map { "https://endorser.ch/entity/01K0000000000000000000" + String(10_000 + $0).suffix(4) }
    }

    private static func id(_ seconds: Int64) -> JWTID { .floor(.ulid, at: now + .seconds(seconds)) }

    @Test func anAnswerLivesAFifthOfTheIntervalAndAtMostFiveMinutes() {
        #expect(Self.quarter.life == .seconds(180))
        #expect(SharedTerms(interval: .seconds(86_400), gap: .seconds(86_400)).life == .seconds(300))
        #expect(Self.quarter.answers == 5)
        #expect(SharedTerms(interval: .seconds(3601), gap: .seconds(3601)).answers == 13)
    }

    @Test func anAccountNeedsWhatItHasNotSeen() {
        func need(_ lowerEnd: JWTID?, _ seen: Int64) -> JWTID {
            SharedTerms.need(lowerEnd: lowerEnd, seenUntil: Self.now + .seconds(seen), dialect: .endorser)
        }
        // A change becomes visible up to 30 s after the time of its identifier.
        #expect(need(Self.id(-100_000), -900) == Self.id(-930))
        #expect(need(Self.id(-920), -900) == Self.id(-920))
        #expect(need(nil, -900) == Self.id(-930))
    }

    @Test func anAnswerBeginsWhereMostAccountsNeedItButNotWhereAnOldOneDoes() {
        func start(_ need: Int64) -> JWTID? {
            Self.quarter.start(for: Self.id(need), now: Self.now, dialect: .endorser)
        }
        let usual = Self.id(-900 - 180 - 120 - 30)
        #expect(start(-930) == usual)
        #expect(start(-1200) == usual)
        #expect(start(-1231) == nil)
        let night = SharedTerms(interval: .seconds(900), gap: .seconds(50_000))
        #expect(night.start(for: Self.id(-50_100), now: Self.now, dialect: .endorser) == Self.id(-50_100))
    }

    @Test func fewAccountsAskAlone() {
        #expect(!SharedTerms.isWorthwhile(accounts: 4, portions: 1))
        #expect(SharedTerms.isWorthwhile(accounts: 5, portions: 1))
        #expect(!SharedTerms.isWorthwhile(accounts: 14, portions: 3))
    }

    @Test func eachPortionFitsIntoOneRequest() throws {
        var shared = SharedPlans()
        let plans = Self.plans(0..<2000)
        for start in stride(from: 0, to: 2000, by: 2) { shared.want(Array(plans[start..<start + 2]), at: .zero) }
        #expect(shared.count == 3)
        for portion in 0..<3 {
            let part = shared.plans(of: portion, wantedSince: .zero)
            #expect(PlanChunk.split(part, dialect: .endorser).map(\.count) == [part.count])
            #expect(PlanChunk.split(part, dialect: .canonical).count == 1)
            #expect(part.count <= 730)
        }
        let parts = try #require(shared.parts([plans[1999], plans[0], plans[1]]))
        #expect(parts.map(\.portion) == [0, 2])
        #expect(parts.map(\.plans) == [[plans[0], plans[1]], [plans[1999]]])
        #expect(shared.parts([plans[0], "unknown"]) == nil)
    }

    @Test func aPlanThatNobodyWantsLeavesRoomForAnother() {
        var shared = SharedPlans()
        shared.want(Self.plans(0..<1000), at: .seconds(1))
        shared.want(Self.plans(0..<100), at: .seconds(100))
        #expect(shared.plans(of: 0, wantedSince: .seconds(50)) == Self.plans(0..<100))
        #expect(shared.parts(Self.plans(200..<201)) == nil)
        shared.want(["https://endorser.ch/entity/new"], at: .seconds(100))
        #expect(shared.parts(["https://endorser.ch/entity/new"])?.map(\.portion) == [0])
    }

    @Test func theNumberOfPortionsIsBounded() {
        var shared = SharedPlans()
        shared.want((0..<1000).map { "\($0):" + String(repeating: "x", count: 2000) }, at: .zero)
        #expect(shared.count == SharedTerms.mostPortions)
    }

    @Test func onlyTheStarsOfTheLastPollCount() {
        var seen = SeenStars()
        let stream = StreamKey(account: DID("did:ethr:0x1")!, server: "s", poll: PollName("p")!)
        seen.note(["a", "b"], of: stream, shares: true, at: .zero)
        #expect(seen.has(["a", "b"], of: stream))
        #expect(!seen.has(["a"], of: stream))
        seen.note(["a"], of: stream, shares: true, at: .zero)
        #expect(!seen.has(["a", "b"], of: stream))
        let other = StreamKey(account: DID("did:ethr:0x2")!, server: "s", poll: PollName("p")!)
        seen.note(["a"], of: other, shares: true, at: .days(9))
        #expect(!seen.has(["a"], of: stream))
        #expect(seen.count == 1)
    }

    @Test func eachPollCountsOnceAsWhatItDoesNext() {
        var seen = SeenStars()
        let streams = (0..<4).map { StreamKey(account: DID("did:ethr:0x\($0)")!, server: "s", poll: PollName("p")!) }
        for stream in streams { seen.note(["a"], of: stream, shares: false, at: .zero) }
        for stream in streams[1...] { seen.note(["a"], of: stream, shares: true, at: .zero) }
        seen.note([], of: streams[3], shares: true, at: .zero)
        #expect(SeenStars.Next.allCases.map { seen[$0] } == [2, 1, 1])
        #expect(seen.count == 3)
        seen.note(["b"], of: streams[3], shares: true, at: .days(9))
        #expect(SeenStars.Next.allCases.map { seen[$0] } == [1, 0, 0])
    }

    @Test func theLastPortionIsFullWhenAPlanFindsNoRoom() {
        var shared = SharedPlans()
        let long = (0..<1000).map { "\($0):" + String(repeating: "x", count: 2000) }
        shared.want([long[0]], at: .zero)
        #expect(!shared.isFull && shared.has([long[0]]) && !shared.has([long[0], long[999]]))
        shared.want(long, at: .zero)
        #expect(shared.isFull && !shared.has([long[999]]))
    }
}

extension Duration {
    fileprivate static func days(_ count: Int) -> Duration { .seconds(count * 86_400) }
}
