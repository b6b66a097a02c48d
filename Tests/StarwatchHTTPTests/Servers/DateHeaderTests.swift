import NIOHTTP1
import StarwatchCore
import Synchronization
import Testing

@testable import StarwatchHTTP

@Suite struct DateHeaderTests {
    @Test func itIsTheTimeOfTheAnswerInWholeSeconds() {
        let now = Mutex(Timestamp(milliseconds: 784_111_777_999))
        let header = DateHeader { now.withLock { $0 } }
        #expect(header.text == "Sun, 06 Nov 1994 08:49:37 GMT")
        now.withLock { $0 = Timestamp(milliseconds: 784_111_778_000) }
        #expect(header.text == "Sun, 06 Nov 1994 08:49:38 GMT")
        now.withLock { $0 = Timestamp(milliseconds: 784_111_777_000) }
        #expect(header.text == "Sun, 06 Nov 1994 08:49:37 GMT")
    }

    @Test func everyAnswerHasIt() async throws {
        try await withRunning(HTTPServer(reading: FakeAgent(), listen: "127.0.0.1:0", logger: quiet)) { address in
            let reply = try await HTTPProbe(address: address).get("/-/healthy")
            #expect(try #require(reply.headers["Date"].first).hasSuffix(" GMT"))
        }
    }
}
