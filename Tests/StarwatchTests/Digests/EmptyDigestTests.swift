import MockEndorser
import StarwatchCore
import StarwatchStore
import Testing

@testable import Starwatch

/// Content in which nothing is.
@Suite struct EmptyDigestTests {
    private static let nothing: [MockFault] = [
        .status(200, body: "{}"), .status(200, body: #"{"items": [], "note": null}"#), .status(200, body: "[]"),
        .status(200, body: " "), .status(204, body: ""),
    ]

    @Test(arguments: nothing)
    func itIsNotShownWhereNothingIsToCome(answer: MockFault) async throws {
        try await DigestBench.run(
            callbacks: { options, mock in options.reportError = FetchOptions(url: mock.url + "/callback") },
            digest: { digest, _ in
                digest.onEmpty = .skip
                digest.onMissing = .fallback
            }
        ) { (bench: Bench) async throws in
            await bench.settle()
            bench.mock.setStickyFault(answer, at: .content)
            bench.move(to: "12:55")
            await bench.settle()
            // Disarmed as soon as it is known.
            #expect(try await bench.stored().map(\.row.arming) == [nil])
            bench.move(to: "13:00")
            let pass = await bench.arm()
            await bench.dispatch()
            #expect(pass.missing == 0 && bench["phone"].seen.isEmpty)
            #expect(bench.count(.skipped) == 1 && bench.count(.skippedStale) == 0 && bench.count(.fetched) == 2)
            let row = try #require(try await bench.stored().first { $0.row.occurrence.fireAt == DigestBench.day })
            #expect(row.row.status == .skipped && row.code == .empty)
            #expect(bench.log.lines.contains { $0.contains("\"event\":\"digest.empty\"") })
            #expect(!bench.log.lines.contains { $0.contains("digest.not_shown") })
            // It is no error.
            #expect(try await bench.agent.store.events.count() == 0)
            let status = await bench.agent.state().digests["daily"]
            #expect(status?.lastStatus == .skipped && status?.lastErrorCode == .empty)
        }
    }

    @Test(arguments: nothing)
    func itIsShownOrRefusedAsEverWhereNobodyAskedForLess(answer: MockFault) async throws {
        try await DigestBench.run(digest: { digest, _ in digest.body = "all" }) { (bench: Bench) async throws in
            await bench.settle()
            bench.mock.setStickyFault(answer, at: .content)
            bench.move(to: "12:55")
            await bench.settle()
            await bench.show(at: "13:00")
            #expect(bench.count(.skipped) == 0)
            #expect(bench["phone"].seen.count == 1)
            // A response that is not an object is no content, so the previous content is shown.
            let isContent = bench.count(.fetched) == 2
            #expect(isContent == (bench["phone"].seen.first?.body == "all"))
        }
    }
}
