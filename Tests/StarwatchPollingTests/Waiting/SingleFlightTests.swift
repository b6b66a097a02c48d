import StarwatchCore
import StarwatchTestKit
import Testing

@testable import StarwatchPolling

@Suite struct SingleFlightTests {
    @Test func identicalRequestsInFlightAreOne() async throws {
        let bench = HostBench()
        bench.server.hold()
        let (manager, request, context) = (bench.manager, bench.request, bench.context)
        var other = request
        other.headers["X-App"] = "1"
        async let third = manager.execute(other, context: context)
        await bench.server.requests(atLeast: 1)
        async let first = manager.execute(request, context: context)
        await bench.server.requests(atLeast: 2)
        // The same, though its answer is understood in another way.
        var loud = request
        loud.transform = { ReleaseFeed(items: $0.items.map { $0.uppercased() }) }
        async let second = manager.execute(loud, context: context)
        await bench.waiting.reached(2)
        bench.server.release()
        let results = await [first, second, third]
        #expect(results.allSatisfy(\.isSuccess) && bench.server.requests.count == 2)
        #expect(results[0].metadata.requestID == results[1].metadata.requestID)
        // Later calls send a new request.
        _ = await manager.execute(request, context: context)
        #expect(bench.server.requests.count == 3)
    }

    @Test func whoeverIsCancelledLeavesTheOthersAlone() async throws {
        let bench = HostBench()
        bench.server.hold()
        let (manager, request, context) = (bench.manager, bench.request, bench.context)
        let first = Task { await manager.execute(request, context: context) }
        await bench.server.requests(atLeast: 1)
        let second = Task { await manager.execute(request, context: context) }
        await bench.waiting.reached(2)
        first.cancel()
        #expect(await first.value.error?.code == .cancelled)
        bench.server.release()
        #expect(await second.value.isSuccess)
        #expect(bench.server.cancelled.value == 0 && bench.server.requests.count == 1)
    }

    @Test func theLastOneWhoIsCancelledEndsTheRequest() async throws {
        let bench = HostBench()
        bench.server.hold()
        let (manager, request, context) = (bench.manager, bench.request, bench.context)
        let only = Task { await manager.execute(request, context: context) }
        await bench.server.requests(atLeast: 1)
        only.cancel()
        #expect(await only.value.error?.code == .cancelled)
        #expect(manager.flights.count == 0)
        await bench.server.cancelled.reached(1)
    }

    @Test func aFormerIdentitysRequestsAreGivenUp() async throws {
        let bench = HostBench()
        bench.server.hold()
        let (manager, request) = (bench.manager, bench.request)
        let (nobodys, somebodys) = (bench.context, PollingContext(server: HostBench.server, account: TestAccount.other))
        let first = Task { await manager.execute(request, context: nobodys) }
        await bench.server.requests(atLeast: 1)
        let second = Task { await manager.execute(request, context: somebodys) }
        await bench.server.requests(atLeast: 2)
        manager.abort()
        #expect(await second.value.error?.code == .cancelled)
        bench.server.release()
        #expect(await first.value.isSuccess)
    }
}
