import StarwatchCore
import Testing

@Suite struct ProblemGroupTests {
    private let now = Timestamp(seconds: 1_767_225_600)

    private func headline(_ change: (inout HealthFacts) -> Void) -> (line: String?, problems: Int) {
        var facts = HealthFacts()
        change(&facts)
        let problems = HealthDecision.problems(facts, now: now)
        return (HealthDecision.headline(problems, facts), problems.count)
    }

    private func poll(_ number: Int, _ change: (inout HealthFacts.Poll) -> Void) -> HealthFacts.Poll {
        var poll = HealthFacts.Poll(name: "p\(number)")
        change(&poll)
        return poll
    }

    @Test func refusedCredentialsOfAllPollsAreOneProblemWithACount() {
        let (line, problems) = headline { facts in
            facts.polls = (1...8).map { poll($0) { ($0.isRefused, $0.staleSince) = (true, now) } }
            facts.isSkewed = true
        }
        #expect(problems == 17)
        let cause = "The server refuses the credentials of poll p1 (and 7 more polls; 8 polls are stale)"
        #expect(line == cause + "; 1 more problem")
    }

    @Test func aServerThatDoesNotAnswerIsTheCauseOfStalePolls() {
        let (_, problems) = headline { facts in
            facts.polls = (1...3).map { poll($0) { $0.staleSince = now } }
            facts.serverCircuit = .open
        }
        #expect(problems == 4)
        let members =
            [ProblemGroup(.serverUnreachable, of: nil, reason: "timeout")]
            + (1...3).map { .init(.stale, of: "p\($0)", reason: "timeout") }
        let groups = ProblemGroup.groups(of: members)
        #expect(
            groups.map { $0.title("The server does not answer") } == ["The server does not answer (3 polls are stale)"]
        )
    }

    @Test func othersAreCountedByWhatTheyAre() {
        let members = ["a", "b"].map { ProblemGroup(.certificateExpiring, of: $0, reason: nil) }
        #expect(ProblemGroup.groups(of: members).map { $0.title("T") } == ["T (and 1 more certificate)"])
    }

    @Test func otherReasonsAndOtherKindsAreOtherProblems() {
        let members: [ProblemGroup] = [
            .init(.failing, of: "a", reason: "timeout"), .init(.failing, of: "b", reason: "http_503"),
            .init(.failing, of: "c", reason: "timeout"), .init(.sinkUnreachable, of: "hook", reason: "timeout"),
            .init(.sinkUnreachable, of: "mail", reason: "timeout"), .init(.stale, of: "d", reason: nil),
            .init(nil, of: "x", reason: nil), .init(nil, of: "y", reason: nil), .init(.slow, of: nil, reason: nil),
        ]
        let titles = ProblemGroup.groups(of: members).map { "\($0.first) " + $0.title("T") }
        #expect(titles == ["0 T (and 1 more poll)", "1 T", "3 T (and 1 more sink)", "5 T", "6 T", "7 T", "8 T"])
    }

    @Test func oneStalePollIsSaidWithItsOwnCause() {
        let (line, _) = headline { facts in
            facts.polls = [
                poll(1) { ($0.failures, $0.failure, $0.staleSince) = (9, FailureReason("contract"), now) },
                poll(2) { _ in },
            ]
        }
        #expect(line?.hasSuffix("poll p1 (1 poll is stale)") == true, "\(line ?? "-")")
    }
}
