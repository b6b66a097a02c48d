import StarwatchCore
import StarwatchTelemetry
import Testing

@testable import Starwatch
@testable import StarwatchHTTP

/// Every surface shows the same problems: none says healthy while another does not.
@Suite struct ProblemSurfaceTests {
    private let now = Timestamp(seconds: 1_767_268_800)

    private func status(_ problems: [Problem]) -> AgentStatus {
        var facts = HealthFacts()
        facts.polls = [HealthFacts.Poll(name: "starred_projects")]
        var status = StatusPageTests.healthy
        status.take(problems, headline: HealthDecision.headline(problems, facts))
        return status
    }

    private func problem(_ kind: Problem.Kind) -> Problem {
        let subject: String? =
            switch kind.topic {
            case .agent: nil
            case .poll: "starred_projects"
            case .sink: "hook"
            case .port: "http"
            case .certificate: "server"
            }
        return Problem(kind, of: subject, "problem \(kind.rawValue)")
    }

    private func check(_ kinds: [Problem.Kind], _ metrics: AgentMetrics) {
        let problems = kinds.map(problem)
        let status = status(problems)
        let page = StatusPage(status: status).frame
        metrics.problems.show(problems)
        let samples = String(decoding: metrics.registry.page(.text, names: ["starwatch_problem_info"]), as: UTF8.self)
            .split(separator: "\n").filter { !$0.hasPrefix("#") }
        let isHealthy = problems.isEmpty
        #expect((status.status == .healthy) == isHealthy)
        #expect((status.headline == nil) == isHealthy)
        #expect(samples.count == problems.count)
        #expect((StatusPage(status: status).verdict.title == "All is well") == isHealthy)
        #expect((page.tone == .bad) == !isHealthy)
        for problem in problems {
            #expect(status.reasons.contains(problem.word))
            #expect("\(page.main)".contains("help/runbooks/\(problem.kind.runbook)"))
        }
    }

    @Test func noSurfaceSaysHealthyWhileAnotherDoesNot() throws {
        let metrics = try AgentMetrics.make(polls: ["starred_projects"], sinks: ["hook"], now: { now })
        let kinds = Problem.Kind.allCases
        check([], metrics)
        for (index, kind) in kinds.enumerated() {
            check([kind], metrics)
            for other in kinds.dropFirst(index + 1) { check([kind, other], metrics) }
        }
        var random = SystemRandomNumberGenerator()
        for _ in 0..<100 { check(kinds.filter { _ in Bool.random(using: &random) }, metrics) }
    }

    @Test func everyProblemHasARunbookAMeaningAndMostACommand() {
        for kind in Problem.Kind.allCases {
            #expect(Runbook.find(kind.runbook) != nil, "\(kind.runbook)")
            #expect(!kind.meaning.isEmpty)
            #expect(problem(kind).command != nil || kind == .ledgerImbalance)
        }
    }
}
