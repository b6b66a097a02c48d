import NIOHTTP1
import Testing

@testable import StarwatchHTTP

@Suite struct DateHeaderTests {
    @Test func everyAnswerHasIt() async throws {
        try await withRunning(HTTPServer(reading: FakeAgent(), listen: "127.0.0.1:0", logger: quiet)) { address in
            let reply = try await HTTPProbe(address: address).get("/-/healthy")
            #expect(try #require(reply.headers["Date"].first).hasSuffix(" GMT"))
        }
    }
}
