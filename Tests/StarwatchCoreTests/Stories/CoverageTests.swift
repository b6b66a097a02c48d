import StarwatchCore
import Testing

/// What covers a change that has no row.
@Suite struct CoverageTests {
    private static let now = Timestamp(seconds: 1_767_225_600)
    private static let change = JWTID.floor(.ulid, at: now - .seconds(600))

    /// A poll that has passed the change.
    private static var poll: CoverageFacts.Poll {
        var poll = CoverageFacts.Poll(name: "news", kind: .starredProjects)
        poll.cursor = .floor(.ulid, at: now - .seconds(60))
        return poll
    }

    private func reasons(
        of change: JWTID? = change,
        at time: Timestamp? = nil,
        _ edit: (inout CoverageFacts, inout CoverageFacts.Poll) -> Void = { _, _ in }
    ) -> [Coverage.Reason] {
        let time = time ?? change?.timestamp ?? Self.now
        var facts = CoverageFacts(time: time, id: change, retention: .seconds(86_400))
        var poll = Self.poll
        edit(&facts, &poll)
        if !facts.polls.isEmpty || facts.isSignedOut { return facts.coverage(at: Self.now).map(\.reason) }
        facts.polls = [poll]
        return facts.coverage(at: Self.now).map(\.reason)
    }

    @Test func aPollThatHasPassedTheChangeDidNotSeeIt() { #expect(reasons() == [.passed]) }

    @Test func aPollBelowTheChangeHasNotFetchedIt() {
        #expect(reasons { $1.cursor = .floor(.ulid, at: Self.now - .seconds(900)) } == [.notFetched])
        #expect(reasons { $1.cursor = nil } == [.notFetched])
    }

    /// The cursor of a quiet poll stays at the last change.
    @Test func aPollThatHasSeenEverythingSinceHasPassedTheChange() {
        let old = JWTID.floor(.ulid, at: Self.now - .seconds(900))
        #expect(reasons { ($1.cursor, $1.seenUntil) = (old, Self.now) } == [.passed])
        #expect(reasons { ($1.cursor, $1.seenUntil) = (old, Self.now - .seconds(700)) } == [.notFetched])
    }

    @Test func theReasonBeforeTheOthersIsWhatStopsThePoll() {
        #expect(reasons { facts, _ in facts.isSignedOut = true } == [.signedOut])
        #expect(reasons { $1.isOptedOut = true } == [.optedOut])
        #expect(reasons { $1.lacksStars = true } == [.noStars])
        #expect(reasons { $1.isStarred = false } == [.notStarred])
        #expect(reasons { $1.item = 3 } == [.quarantined])
        #expect(CoverageFacts(time: Self.now, retention: .zero).coverage(at: Self.now).map(\.reason) == [.noPoll])
    }

    @Test func aChangeBeforeTheFirstRunWasNotNews() {
        #expect(reasons { $1.startedAt = Self.now - .seconds(300) } == [.beforeStart])
        #expect(reasons { $1.startedAt = Self.now - .seconds(601) } == [.passed])
    }

    @Test func aChangeOlderThanTheRetentionCanHaveBeenDeleted() {
        #expect(reasons { facts, _ in facts.retention = .seconds(599) } == [.expired])
        #expect(reasons { facts, _ in facts.retention = .seconds(600) } == [.passed])
    }

    @Test func anIdOfTheOtherDialectIsNotComparedWithTheCursor() {
        #expect(reasons(of: .floor(.timestamped, at: Self.now - .seconds(600))) == [.otherDialect])
    }

    @Test func aTimeIsFetchedIfThePollHasSeenIt() {
        #expect(reasons(of: nil, at: Self.now - .seconds(61)) == [.fetched])
        #expect(reasons(of: nil, at: Self.now) == [.notFetched])
        #expect(reasons(of: nil, at: Self.now) { $1.seenUntil = Self.now } == [.fetched])
    }

    @Test func theSentenceSaysWhyTheLastRunDidNotFetchIt() throws {
        var facts = CoverageFacts(time: Self.change.timestamp, id: Self.change, retention: .seconds(86_400))
        var poll = Self.poll
        poll.cursor = nil
        poll.nextRun = Self.now + .seconds(60)
        var run = RecentRun(
            runID: "run_1",
            poll: PollName("news")!,
            startedAt: Self.now,
            finishedAt: Self.now,
            outcome: "failed"
        )
        run.reason = "http_500"
        poll.lastRun = run
        facts.polls = [poll]
        let coverage = try #require(facts.coverage(at: Self.now).first)
        let sentence = FailureReason(status: 500).sentence
        #expect(coverage.sentence == "The poll has not come to it yet. Its last run: \(sentence)")
        #expect(coverage.nextRun == poll.nextRun)
        #expect(coverage.poll?.lastRun?.runID == "run_1")
    }

    @Test func everyReasonHasASentence() {
        for reason in Coverage.Reason.allCases { #expect(Coverage(reason).sentence.hasSuffix(".")) }
    }

    @Test func aLaterEditionHasReplacedTheChange() {
        #expect(reasons { $1.laterRow = 7 } == [.replaced])
        // The row of the change can have been deleted, or the first run has seen it.
        #expect(reasons { ($0.retention, $1.laterRow) = (.seconds(599), 7) } == [.expired])
        #expect(reasons { ($1.laterRow, $1.startedAt) = (7, Self.now) } == [.beforeStart])
        var poll = Self.poll
        poll.laterRow = 7
        let coverage = Coverage(.replaced, poll)
        #expect(coverage.sentence.hasSuffix("the server shows only the last one: row 7."))
    }

    /// Only polls of starred projects ask for stars, and a later edition can have replaced any claim.
    @Test(arguments: PollKind.allCases)
    func aPollThatHasPassedTheChangeSaysWhatItAsksFor(kind: PollKind) throws {
        var facts = CoverageFacts(time: Self.change.timestamp, id: Self.change, retention: .seconds(86_400))
        var poll = CoverageFacts.Poll(name: "news", kind: kind)
        poll.cursor = Self.poll.cursor
        facts.polls = [poll]
        let sentence = try #require(facts.coverage(at: Self.now).first).sentence
        #expect(sentence.contains("a later edition replaced it first"))
        #expect(sentence.contains("star") == kind.needsStars)
        #expect(sentence.contains("no offer") == PollKind.offersToMe.overlaps(kind))
        #expect(sentence.contains("no gift") == PollKind.givesToMe.overlaps(kind))
        facts.polls[0].isStarred = true
        #expect(facts.coverage(at: Self.now).first?.sentence.contains("without a star") == false)
    }

    @Test func aPollThatLeavesOutOwnProjectsSaysSo() throws {
        var facts = CoverageFacts(time: Self.change.timestamp, id: Self.change, retention: .seconds(86_400))
        var poll = CoverageFacts.Poll(name: "gifts", kind: .givesToMyProjects)
        (poll.cursor, poll.askedPlans) = (Self.poll.cursor, 100)
        facts.polls = [poll]
        let sentence = try #require(facts.coverage(at: Self.now).first).sentence
        #expect(sentence.contains("asks for 100 projects") && sentence.contains("limits.max_own_plans"))
    }
}
