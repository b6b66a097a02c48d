import StarwatchCore
import Testing

@Suite struct HealthDecisionTests {
    private let now = Timestamp(seconds: 1_767_225_600)

    /// Facts of a healthy agent with two polls and two sinks.
    private var healthy: HealthFacts {
        var facts = HealthFacts()
        facts.polls = [HealthFacts.Poll(name: "stars"), HealthFacts.Poll(name: "offers")]
        facts.sinks = ["log", "hook"].map { HealthFacts.Sink(name: $0, condition: .working) }
        facts.outbox.capacity = 1000
        (facts.outbox.pending, facts.outbox.pressure) = (12, 800)
        return facts
    }

    private func expect(
        _ reasons: [String],
        _ headline: String?,
        sourceLocation: SourceLocation = #_sourceLocation,
        _ change: (inout HealthFacts) -> Void
    ) {
        var facts = healthy
        change(&facts)
        let problems = HealthDecision.problems(facts, now: now)
        #expect(problems.map(\.word).sorted() == reasons.sorted(), sourceLocation: sourceLocation)
        #expect(HealthDecision.headline(problems, facts) == headline, sourceLocation: sourceLocation)
    }

    @Test func anAgentWithoutAProblemIsHealthyAndHasNoHeadline() {
        expect([], nil) { _ in }
    }

    @Test func aPartThatFailsByTheDatabaseStopsNoPoll() {
        expect(["store_unavailable"], "The database fails") { $0.storeFault = .io }
    }

    @Test func theHeadlineOfAFullOutboxNamesTheSinkThatFillsIt() {
        expect(
            ["backpressure", "sink_unreachable:hook"],
            "Polling stopped: sink hook down for 13 min, outbox 80 % full"
        ) { facts in
            facts.sinks[1] = .init(name: "hook", condition: .down, downSince: now - .seconds(13 * 60 + 20))
            facts.outbox.pending = 800
        }
        expect(["backpressure"], "Polling stopped: outbox 84 % full") { facts in
            facts.outbox.pending = 849
        }
    }

    @Test func aSinkThatIsDownDoesNotStopPollingByItself() {
        expect(["sink_unreachable:hook"], "Sink hook down for 50 s") { facts in
            facts.sinks[1] = .init(name: "hook", condition: .down, downSince: now - .seconds(50))
        }
    }

    @Test func aSignedOutAgentIsNotHealthy() {
        expect(["signed_out"], "Polling stopped: signed out") { $0.isSignedOut = true }
        expect(["signed_out"], "Signed out") { facts in
            facts.isSignedOut = true
            facts.polls = []
        }
    }

    @Test func aPollWithoutStarsIsNotHealthyAndStopsPollingIfNoOtherRuns() {
        expect(["no_stars:stars"], "Poll stars has no starred projects") { $0.polls[0].lacksStars = true }
        let missing = "The server has no endpoint for poll stars"
        expect(["endpoint_missing:stars"], missing) { $0.polls[0].lacksEndpoint = true }
        expect(["no_stars:stars", "no_token:offers"], "Polling stopped: no token, no starred projects") { facts in
            facts.polls[0].lacksStars = true
            facts.polls[1].lacksToken = true
        }
    }

    @Test func aPollWithoutATokenOrWithRefusedCredentialsIsNotHealthy() {
        expect(["no_token:offers"], "Poll offers has no token") { $0.polls[1].lacksToken = true }
        expect(["credentials_refused:stars"], "The server refuses the credentials of poll stars") {
            $0.polls[0].isRefused = true
        }
    }

    @Test func aPollThatFailedTwoTimesInARowIsNotHealthyAndItsReasonIsSaid() {
        expect([], nil) { $0.polls[0].failures = 1 }
        expect(["failing:stars"], "Poll stars fails: HTTP 500") { facts in
            facts.polls[0].failures = 2
            facts.polls[0].failure = FailureReason(status: 500)
        }
        expect(["failing:stars"], "Poll stars fails") { $0.polls[0].failures = 2 }
        // The more specific reason is enough.
        expect(["credentials_refused:stars"], "The server refuses the credentials of poll stars") { facts in
            facts.polls[0].failures = 2
            facts.polls[0].isRefused = true
        }
        expect(["server_unreachable"], "Polling stopped: the server does not answer") { facts in
            facts.polls[0].failures = 2
            facts.serverCircuit = .open
        }
    }

    @Test func aWaitLongerThanTheShortestIntervalStopsPolling() {
        let intervals: [Duration] = [.seconds(900), .seconds(600)]
        func hold(_ seconds: Int, _ facts: inout HealthFacts) {
            facts.hold = NotBefore(until: now + .seconds(seconds - 100), since: now - .seconds(100))
            for index in intervals.indices { facts.polls[index].interval = intervals[index] }
        }
        expect([], nil) { hold(600, &$0) }
        expect(["held"], "Polling stopped: the server asks to wait until 00:08:21 UTC") { hold(601, &$0) }
        expect(["held"], "Polling stopped: the server asks to wait until 2026-01-02 00:00:00 UTC") {
            hold(86_500, &$0)
        }
        // The wait after a refused token is our own.
        expect(["credentials_refused:stars"], "The server refuses the credentials of poll stars") { facts in
            hold(601, &facts)
            facts.polls[0].isRefused = true
        }
    }

    private func failure(_ number: Int, _ reason: FailureReason?, count: Int = 2, since: Int = 0) -> AccountFailure {
        AccountFailure(
            account: DID("did:ethr:0x\(String(repeating: "\(number)", count: 40))")!,
            poll: PollName("stars")!,
            reason: reason,
            since: now - .seconds(since),
            count: count,
            nextRun: nil
        )
    }

    @Test func failingAccountsAreNotHealthyAndTheirReasonIsSaid() {
        func fail(_ failures: [AccountFailure], _ facts: inout HealthFacts) {
            facts.accounts = .init(wait: .zero, round: .zero)
            facts.accounts?.take(failures)
        }
        let refused = FailureReason(status: 401)
        expect([], nil) { fail([], &$0) }
        expect(["accounts_failing"], "1 account fails: HTTP 401") { fail([failure(1, refused)], &$0) }
        let many = [failure(1, refused), failure(2, FailureReason(status: 500)), failure(3, refused, since: 90)]
        expect(["accounts_failing"], "3 accounts fail: HTTP 401 and other reasons") { fail(many, &$0) }
        var facts = healthy
        fail(many, &facts)
        let problem = HealthDecision.problems(facts, now: now).first
        #expect(problem?.reason == "http_401" && problem?.since == now - .seconds(90))
        #expect(problem?.command == "starwatch accounts list --failing")
    }

    @Test func anAccountFailsAtOnceIfAPersonMustActAndElseAtTheSecondFailure() {
        let known = [
            failure(1, FailureReason(status: 401), count: 1), failure(2, FailureReason(status: 500), count: 1),
            failure(3, FailureReason(status: 500), since: 60), failure(3, FailureReason(.timeout), since: 90),
        ]
        let worst = AccountFailure.worst(known)
        #expect(worst == [known[3], known[0]])
        #expect(AccountFailure.worst(known.reversed()) == worst)
    }

    @Test func quietHoursThatFillTheOutboxAreTheHeadline() {
        func hold(_ count: Int, _ facts: inout HealthFacts) {
            facts.sinks[1].held = .init(count: count, until: now + .seconds(3600))
            facts.outbox.pending = 850
        }
        let headline = "Polling stopped: outbox 85 % full, because sink hook is quiet until 01:00:00 UTC"
        expect(["backpressure"], headline) { hold(51, &$0) }
        // Without its changes the outbox would be full all the same.
        expect(["backpressure"], "Polling stopped: outbox 85 % full") { hold(50, &$0) }
        var facts = healthy
        hold(51, &facts)
        let problem = HealthDecision.problems(facts, now: now).first
        #expect(problem?.reason == "quiet_hours" && problem?.until == now + .seconds(3600))
        #expect(HealthDecision.notice(facts, now: now) == nil)
        facts.polls[0].staleSince = now
        let stale = HealthDecision.problems(facts, now: now)
        #expect(Problem.cause(ofStale: PollName("stars")!, among: stale) == problem)
    }

    @Test func quietHoursForWhichTheWatermarkWaitsAreANoticeAndNoProblem() {
        var facts = healthy
        #expect(HealthDecision.notice(facts, now: now) == nil)
        facts.sinks[0].held = .init(count: 1, until: now + .seconds(60))
        #expect(
            HealthDecision.notice(facts, now: now)
                == "Sink log is quiet until 00:01:00 UTC: 1 change and the watermark wait for it"
        )
        facts.sinks[1].held = .init(count: 12, until: now + .seconds(3600))
        #expect(
            HealthDecision.notice(facts, now: now)
                == "Sink hook is quiet until 01:00:00 UTC: 12 changes and the watermark wait for it"
        )
        #expect(HealthDecision.problems(facts, now: now).isEmpty)
        // Notices alone keep no watermark back.
        facts.sinks[0].held?.count = 0
        facts.sinks[1].held = nil
        #expect(HealthDecision.notice(facts, now: now) == nil)
    }

    @Test func failingAcknowledgementsAndRefusedReloadsAreNotHealthy() {
        expect([], nil) { $0.failedAcknowledgements = 1 }
        expect(["acknowledgements_failing"], "Acknowledgements fail") { $0.failedAcknowledgements = 2 }
        expect(["acknowledgements_failing"], "Acknowledgements fail: no token") {
            ($0.failedAcknowledgements, $0.acknowledgementFailure) = (2, FailureReason(.noToken))
        }
        expect(["reload_refused"], "The changed configuration was refused: line 3: polls must be a list") {
            $0.refusedReload = RefusedReload("line 3: polls must be a list.")
        }
        // A path is no headline.
        let error = "/etc/starwatch/starwatch.yaml:14: polls.news.schedule: \"*/15\" needs five fields."
        var facts = HealthFacts()
        facts.refusedReload = RefusedReload(error)
        let refused = HealthDecision.problems(facts, now: Timestamp(seconds: 0)).first
        #expect(refused?.title == "The changed configuration was refused: starwatch.yaml:14")
        #expect(refused?.detail == error)
        #expect(refused?.command == "starwatch check")
        // A check of a good configuration would find nothing.
        facts.refusedReload = RefusedReload("storage cannot change while running.", .restart)
        let good = HealthDecision.problems(facts, now: Timestamp(seconds: 0)).first
        #expect(good?.command == "systemctl restart starwatch" && good?.reason == "needs_restart")
        // No command of the agent restarts another program.
        facts.refusedReload = RefusedReload("This agent is part of another program.", .restartOfHost)
        let hosted = HealthDecision.problems(facts, now: Timestamp(seconds: 0)).first
        #expect(hosted?.command == nil && hosted?.reason == "needs_restart_of_host")
        expect(["reload_refused:http"], "The changed web configuration of port http was refused") {
            $0.refusedPorts = ["http"]
        }
    }

    @Test func aSinkThatRejectsEverythingIsNotHealthy() {
        expect(["sink_rejecting:hook"], "Sink hook rejects everything") {
            $0.sinks[1].condition = .rejecting
        }
    }

    @Test func everyProblemIsAReasonAndTheGravestIsTheHeadline() {
        expect(
            [
                "clock_skew", "dead_letters", "ledger_imbalance", "sink_disabled:log", "stale:offers",
            ],
            "Sink log disabled; 4 more problems"
        ) { facts in
            facts.sinks[0].condition = .disabled
            facts.polls[1].staleSince = now
            facts.outbox.undelivered = 1
            facts.isSkewed = true
            facts.outbox.imbalance = 2
        }
        expect(["server_unreachable"], "Polling stopped: the server does not answer") { $0.serverCircuit = .halfOpen }
        expect(["store_unavailable"], "Polling stopped: the database fails") { $0.canReadStore = false }
        expect(["clock_skew", "dead_letters"], "3 dead letters; 1 more problem") { facts in
            facts.outbox.dead = 2
            facts.outbox.undelivered = 1
            facts.isSkewed = true
        }
    }

    @Test func oneRejectedNotificationAmongOthersIsNoRejectingSink() {
        func condition(_ rejections: Int, _ circuit: CircuitState = .closed, gone: Bool = false) -> SinkCondition {
            SinkCondition(isDisabled: gone, circuit: circuit, rejectionsInARow: rejections)
        }
        #expect(condition(2) == .working)
        #expect(condition(3) == .rejecting)
        #expect(condition(3, .open) == .down)
        #expect(condition(0, .halfOpen) == .down)
        #expect(condition(0, gone: true) == .disabled)
    }
}
