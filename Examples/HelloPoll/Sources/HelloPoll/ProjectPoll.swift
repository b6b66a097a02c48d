import Foundation
import StarwatchPolling

/// Asks for changes of the plans, says hello to each, acknowledges them, and then moves the watermark.
struct ProjectPoll: Sendable {
    static let key = "starred_projects"
    static let beginning = "0000000000_000000_00000000"

    let server: String
    let plans: [String]
    let manager: PollManager

    var schedule: PollSchedule<ProjectQuestion, ProjectPage> {
        PollSchedule(name: Self.key, request: request(), timing: .every(.seconds(1))) {
            PollingContext(server: server, storage: manager.storage)
        } handle: { result, context in
            if let error = result.error { say("The poll failed: \(error.code.rawValue)") }
            if let page = result.value { try await announceAll(from: page, context) }
        }
    }

    /// - Parameter cursor: The server's cursor of a next page; `nil` for the first page of a poll.
    private func request(after cursor: String? = nil) -> PollRequest<ProjectQuestion, ProjectPage> {
        var request = PollRequest<ProjectQuestion, ProjectPage>(
            endpoint: "/api/v2/report/plansLastUpdatedBetween",
            method: .post,
            schema: ResponseSchema { $0.problems }
        )
        // Made for every request, so that each one continues where the last one ended.
        request.body = { context in
            let mark = try await context.storage.watermark(of: Self.key)
            return ProjectQuestion(planIds: plans, afterId: cursor ?? mark ?? Self.beginning)
        }
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

    /// Announces a page and those after it.
    private func announceAll(from first: ProjectPage, _ context: PollingContext) async throws {
        var page: ProjectPage? = first
        var last = ""
        while let current = page {
            try await announce(current, context)
            // A cursor that does not move would ask for the same page for ever.
            guard let next = current.next, next > last else { return }
            last = next
            page = try await manager.execute(request(after: next), context: context).get()
        }
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
