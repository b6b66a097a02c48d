import StarwatchCore
import Testing

@Suite struct ProblemTests {
    private let now = Timestamp(seconds: 1_767_225_600)

    /// Changes of healthy facts, each with the word of the problem that it makes.
    static let causes: [(word: String, make: @Sendable (inout HealthFacts) -> Void)] = [
        ("store_damaged", { $0.storeFault = .corrupt }), ("store_lost", { $0.isStoreLost = true }),
        ("store_full", { $0.storeFault = .full }),
        ("store_busy", { $0.storeFault = .busy }), ("store_unavailable", { $0.canReadStore = false }),
        ("disk_low", { $0.disk = HealthFacts.Disk(free: HealthFacts.Disk.least - 1, used: 0) }),
        ("signed_out", { $0.isSignedOut = true }), ("credentials_refused:stars", { $0.polls[0].isRefused = true }),
        ("no_token:stars", { $0.polls[0].lacksToken = true }), ("token_pool_low", { $0.tokensLeft = 2 }),
        ("server_unreachable", { $0.serverCircuit = .open }),
        (
            "held",
            { facts in
                let start = Timestamp(seconds: 1_767_225_500)
                facts.polls[0].interval = .seconds(60)
                facts.hold = NotBefore(until: start + .seconds(600), since: start)
            }
        ),
        (
            "contract_violated:stars",
            { facts in
                facts.polls[0].failures = 2
                facts.polls[0].failure = FailureReason(.contract)
            }
        ),
        ("failing:stars", { $0.polls[0].failures = 2 }),
        ("stale:stars", { $0.polls[0].staleSince = Timestamp(seconds: 0) }),
        (
            "behind:stars",
            { $0.polls[0].backlog = FetchBacklog(rest: .seconds(7200), since: Timestamp(seconds: 0), at: .zero) }
        ),
        ("no_stars:stars", { $0.polls[0].lacksStars = true }),
        ("endpoint_missing:stars", { $0.polls[0].lacksEndpoint = true }), ("no_polls", { $0.isIdle = true }),
        ("answers_with_errors", { ($0.answers.requests, $0.answers.failed) = (8, 2) }),
        ("slow", { ($0.answers.p95, $0.answers.usual) = (4, 0.2) }),
        ("sink_unreachable:hook", { $0.sinks[0].condition = .down }),
        ("sink_rejecting:hook", { $0.sinks[0].condition = .rejecting }),
        ("sink_disabled:hook", { $0.sinks[0].condition = .disabled }),
        ("acknowledgements_failing", { $0.failedAcknowledgements = 2 }), ("dead_letters", { $0.outbox.dead = 1 }),
        ("quarantined", { $0.outbox.quarantined = 1 }), ("backpressure", { $0.outbox.pressure = 0 }),
        ("reload_refused", { $0.refusedReload = RefusedReload("line 3: polls must be a list.") }),
        ("reload_refused:http", { $0.refusedPorts = ["http"] }), ("clock_skew", { $0.isSkewed = true }),
        (
            "accounts_late",
            { $0.accounts = .init(wait: .seconds(1000), round: .seconds(600)) }
        ),
        (
            "accounts_failing",
            { facts in
                facts.accounts = .init(wait: .zero, round: .zero)
                facts.accounts?.failing = 3
            }
        ),
        (
            "canary_late",
            { $0.canary = .init(every: .seconds(60), lastArrival: nil, startedAt: Timestamp(seconds: 1_767_220_000)) }
        ),
        (
            "restarting",
            { facts in
                let at = Timestamp(seconds: 1_767_225_000)
                facts.restarts = (1...3).map { _ in RunEnd(startedAt: at, at: at, .killed) }
            }
        ),
        ("clock_jumped", { $0.jump = HealthFacts.Jump(.backward, size: .seconds(7200), age: .seconds(60)) }),
        (
            "certificate_expired:server",
            { $0.certificates = [Certificate(of: .server, expiry: Timestamp(seconds: 1_767_225_600))] }
        ),
        (
            "certificate_expiring:port:http",
            { $0.certificates = [Certificate(of: .port("http"), expiry: Timestamp(seconds: 1_767_225_601))] }
        ),
        (
            "certificate_renewal_due:hook",
            { $0.certificates = [Certificate(of: .sink("hook"), expiry: Timestamp(seconds: 1_768_000_000))] }
        ),
        ("not_scraped", { $0.scrapeSilence = .seconds(900) }), ("ledger_imbalance", { $0.outbox.imbalance = 1 }),
    ]

    static var healthy: HealthFacts {
        var facts = HealthFacts()
        facts.polls = [HealthFacts.Poll(name: "stars")]
        facts.sinks = [HealthFacts.Sink(name: "hook", condition: .working)]
        facts.disk = HealthFacts.Disk(free: HealthFacts.Disk.least, used: 0)
        facts.tokensLeft = HealthFacts.fewTokens
        return facts
    }

    @Test func eachCauseMakesItsProblemAndNoOther() {
        #expect(HealthDecision.problems(Self.healthy, now: now) == [])
        for cause in Self.causes {
            var facts = Self.healthy
            cause.make(&facts)
            #expect(HealthDecision.problems(facts, now: now).map(\.word) == [cause.word])
        }
    }

    @Test func everyKindHasACause() {
        let known = Set(Self.causes.map { String($0.word.prefix { $0 != ":" }) })
        #expect(known == Set(Problem.Kind.allCases.map(\.rawValue)))
    }

    @Test func theSentencesOfProblemsSayHowMuchAndHowLong() {
        func title(_ change: (inout HealthFacts) -> Void) -> String? {
            var facts = Self.healthy
            change(&facts)
            return HealthDecision.problems(facts, now: now).first?.title
        }
        #expect(
            title { ($0.answers.p95, $0.answers.usual) = (4.2, 0.3) } == "The server is slow: p95 4.2 s, usually 300 ms"
        )
        #expect(
            title { ($0.answers.requests, $0.answers.failed) = (40, 18) }
                == "45 % of the requests of the last 15 min failed"
        )
        #expect(
            title { facts in
                facts.polls[0].backlog = FetchBacklog(rest: .seconds(7200), since: now, at: .zero)
                facts.polls[0].backlog?.move(to: .seconds(3600), at: .seconds(600))
            } == "Poll stars is behind the server by 1 h, and catches up in 10 min"
        )
        #expect(
            title { $0.jump = HealthFacts.Jump(.forward, size: .seconds(7200), age: .seconds(60)) }
                == "The local clock was set ahead by 2 h"
        )
        #expect(
            title { $0.disk = HealthFacts.Disk(free: 100 << 20, used: 0) }
                == "The disk of the database has 100 MiB left"
        )
    }

    @Test func aStepOfTheClockIsAProblemForFifteenMinutes() {
        func isProblem(_ jump: ClockJump, _ size: Int, _ age: Int) -> Bool {
            HealthFacts.Jump(jump, size: .seconds(size), age: .seconds(age)).isProblem
        }
        #expect(isProblem(.forward, 61, 899) && isProblem(.backward, 61, 0))
        #expect(!isProblem(.forward, 60, 0) && !isProblem(.forward, 61, 900) && !isProblem(.suspend, 9000, 0))
    }

    @Test func onlyAnAgentThatCannotWorkIsNotReady() {
        let words = Problem.Kind.allCases.filter(\.preventsReadiness).map(\.rawValue)
        #expect(
            words == ["store_damaged", "store_lost", "store_full", "store_busy", "store_unavailable", "signed_out"]
        )
    }

    /// A lock stops as much as a full disk.
    @Test func everyFaultOfTheDatabaseIsCritical() {
        for kind in Problem.Kind.allCases where kind.isOfStore { #expect(kind.severity == .critical, "\(kind)") }
    }

    @Test func aStalePollHasTheGravestCauseThatConcernsIt() {
        let poll = PollName("stars")!
        let problems = [
            Problem(.signedOut, "signed out"), Problem(.failing, of: "offers", "poll offers fails"),
            Problem(.failing, of: "stars", "poll stars fails"), Problem(.stale, of: "stars", "poll stars is stale"),
            Problem(.backpressure, "outbox 80 % full"),
        ]
        #expect(Problem.cause(ofStale: poll, among: problems) == problems[2])
        #expect(Problem.cause(ofStale: poll, among: [problems[1], problems[3]]) == nil)
        #expect(Problem.cause(ofStale: poll, among: [problems[4]]) == problems[4])
    }
}
