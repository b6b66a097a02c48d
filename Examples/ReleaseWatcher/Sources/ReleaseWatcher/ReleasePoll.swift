import Starwatch
import StarwatchCore

/// Requests the releases from a server and announces new ones.
struct ReleasePoll: Sendable {
    let server: String
    let storage: any StorageAdapter
    let sink: LineSink

    var schedule: PollSchedule<Never, ReleaseFeed> {
        PollSchedule(name: "releases", request: request, timing: .every(.seconds(1))) {
            PollingContext(server: server, storage: storage)
        } handle: { result, context in
            if let feed = result.value { try await announce(feed, context) }
        }
    }

    var request: PollRequest<Never, ReleaseFeed> {
        var request = PollRequest<Never, ReleaseFeed>(endpoint: "/releases.json")
        request.isConditional = true
        request.schema.check = { feed in
            feed.releases.indices.filter { feed.releases[$0].version.isEmpty }.map { index in
                ValidationIssue(path: "$.releases[\(index)].version", problem: .invalid)
            }
        }
        request.transform = { ReleaseFeed(releases: $0.releases.sorted { $0.mark < $1.mark }) }
        return request
    }

    func announce(_ feed: ReleaseFeed, _ context: PollingContext) async throws {
        var mark = try await context.storage.watermark(of: "releases")
        for release in feed.releases where mark.map({ $0 < release.mark }) ?? true {
            try await sink.deliver(release)
            guard try await context.storage.advance("releases", from: mark, to: release.mark) else { return }
            mark = release.mark
        }
    }
}
