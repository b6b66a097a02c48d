import Foundation
import StarwatchCore
import Testing

@testable import StarwatchTransport

@Suite(.timeLimit(.minutes(5))) struct HostileAnswerTests {
    private static let whole = Array(
        ("HTTP/1.1 200 OK\r\nDate: Thu, 01 Jan 2026 00:00:00 GMT\r\nTransfer-Encoding: chunked\r\n\r\n"
            + "5\r\n{\"a\":\r\n2\r\n1}\r\n0\r\nX-Late: 1\r\n\r\n").utf8
    )

    /// The server's action after a part of the response.
    enum Ending: CaseIterable {
        case close, reset
    }

    @Test(arguments: Ending.allCases)
    func responseTruncatedAtAnyByteFailsAndTheNextSucceeds(ending: Ending) async throws {
        let length = Tally()
        let server = try LoopbackServer { connection in
            while connection.readRequest() != nil {
                // Read once, because the test goes on as soon as it has an answer.
                let count = length.value
                connection.write(Array(Self.whole.prefix(count)))
                if count == Self.whole.count { continue }
                return ending == .reset ? connection.reset() : ()
            }
        }
        let client = try makeClient()
        for count in 0..<Self.whole.count {
            length.add(count - length.value)
            let cut = await client.exchange(HTTPRequest(url: server.url()))
            // Only the line end after the trailers is missing.
            let isWhole = (try? cut.result.get()).map(text) == #"{"a":1}"# && Self.whole.count - count <= 2
            #expect(isWhole || failure(of: cut.result) == .reset, "after \(count) bytes")
            length.add(Self.whole.count - length.value)
            #expect(text(try await client.execute(HTTPRequest(url: server.url()))) == #"{"a":1}"#)
        }
    }

    /// libcurl 7.88 takes excess bytes for the next response if they arrive after the first one was read.
    @Test func excessBytesAreNotTheNextResponse() async throws {
        let connections = Tally()
        let server = try LoopbackServer { connection in
            connections.add(1)
            let extra = connections.value == 1 ? answer(body: "injected") : ""
            while connection.readRequest() != nil { connection.write(answer(body: "good") + extra) }
        }
        let client = try makeClient()
        for _ in 0..<3 {
            #expect(text(try await client.execute(HTTPRequest(url: server.url()))) == "good")
        }
        #expect(connections.value == 2)
    }

    @Test func headSizeIsLimited() async throws {
        func error(_ head: String) async throws -> APIFailure? {
            let server = try LoopbackServer.answering { _ in answer(headers: [head]) }
            return failure(of: await (try makeClient()).exchange(HTTPRequest(url: server.url())).result)
        }
        let line = "X-A: " + String(repeating: "a", count: 50_000)
        #expect(try await error(line) == nil)
        #expect(try await error([line, line, line, line].joined(separator: "\r\n")) == nil)
        #expect(try await error([line, line, line, line, line, line].joined(separator: "\r\n")) == .tooLarge)
        #expect(try await error("X-A: " + String(repeating: "a", count: 150_000)) == .malformed)
    }
}
