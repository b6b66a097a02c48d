import Foundation
import StarwatchCore
import StarwatchPolling

/// Asks for changes of the plans, says hello to each, acknowledges them, and then moves the watermark.
struct ProjectPoll: Sendable {
    static let key = "starred_projects"
    static let beginning = "0000000000_000000_00000000"

    let server: String
    let plans: [String]
    let manager: PollManager

    var schedule: PollSchedule<ProjectQuestion, ProjectPage> {
        PollSchedule(name: Self.key, request: request, timing: .every(.seconds(1))) {
            PollingContext(server: server, storage: manager.storage)
        } handle: { result, context in
            if let error = result.error { say("The poll failed: \(error.code.rawValue)") }
            if let page = result.value { try await announce(page, context) }
        }
    }

    private var request: PollRequest<ProjectQuestion, ProjectPage> {
        var request = PollRequest<ProjectQuestion, ProjectPage>(
            endpoint: "/api/v2/report/plansLastUpdatedBetween",
            method: .post,
            schema: ResponseSchema { $0.problems }
        )
        // Made for every request, so that each one continues where the last one ended.
        request.body = { context in
            let mark = try await context.storage.watermark(of: Self.key)
            return ProjectQuestion(planIds: plans, afterId: mark ?? Self.beginning)
        }
        request.headers = ["User-Agent": "HelloPoll/1.0"]
        request.retry = retry
        request.authorization = .anonymous
        return request
    }

    /// The policy of the specification's example, with a limit.
    private var retry: RetryPolicy {
        var policy = RetryPolicy(attempts: 3, delay: .exponential(.seconds(1)), jitter: -0.25...0.25)
        policy.maxDelay = .seconds(10)
        return policy
    }

    /// If it throws, the same page comes again: a change is announced twice rather than never.
    private func announce(_ page: ProjectPage, _ context: PollingContext) async throws {
        let changes = page.data.map(\.planSummary).sorted { $0.jwtId < $1.jwtId }
        guard let last = changes.last else { return }
        for change in changes { say("Hello, \(change.name ?? "project")! \(change.jwtId)") }
        try await acknowledge(changes.map(\.jwtId), context)
        let mark = try await context.storage.watermark(of: Self.key)
        _ = try await context.storage.advance(Self.key, from: mark, to: last.jwtId)
    }

    private func acknowledge(_ ids: [String], _ context: PollingContext) async throws {
        var request = PollRequest<Acknowledgement, Acknowledged>(
            endpoint: "/api/v2/plans/acknowledge",
            method: .post
        )
        let body = Acknowledgement(acknowledgedJwtIds: ids, acknowledgedAt: Date.now.ISO8601Format())
        request.body = { _ in body }
        request.authorization = .anonymous
        let answer = try await manager.execute(request, context: context).get()
        guard answer?.failed == 0 else { throw NotAcknowledged() }
    }

    private func say(_ line: String) { try? FileHandle.standardOutput.write(contentsOf: Data((line + "\n").utf8)) }
}

/// The server acknowledged nothing, so the watermark stays.
struct NotAcknowledged: Error {}
