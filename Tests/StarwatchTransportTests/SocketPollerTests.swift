import CCurl
import Glibc
import Testing

@testable import StarwatchTransport

/// The sockets of libcurl's connections and lookups, whose numbers the kernel gives to others.
@Suite struct SocketPollerTests {
    /// A poller with one of libcurl's handles, and a descriptor that is a pipe with something to read.
    private static func with(_ body: (SocketPoller, CurlShard, Int32) throws -> Void) throws {
        let poller = try #require(SocketPoller())
        defer { poller.shutdown() }
        let shard = try #require(poller.addShard(connections: 4))
        let number = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 200)
        defer { close(number) }
        try fill(number)
        try body(poller, shard, number)
    }

    /// Makes the descriptor another one with the same number, as a close and the next open do.
    private static func fill(_ number: Int32) throws {
        var ends: [Int32] = [0, 0]
        try #require(pipe(&ends) == 0)
        #expect(write(ends[1], "x", 1) == 1)
        #expect(dup2(ends[0], number) == number)
        close(ends[0])
        close(ends[1])
    }

    /// Whether the kernel reports the descriptor to libcurl.
    private static func isReported(_ poller: SocketPoller, _ shard: CurlShard) -> Bool {
        shard.hasWorked = false
        poller.wait(limit: 0)
        return shard.hasWorked
    }

    @Test func aConnectionIsReportedForEachRequest() throws {
        try Self.with { poller, shard, number in
            poller.opened(number)
            for _ in 0..<3 {
                poller.watch(number, CURL_POLL_IN, for: shard)
                #expect(Self.isReported(poller, shard))
                poller.watch(number, CURL_POLL_REMOVE, for: shard)
            }
        }
    }

    /// libcurl finds that the server has closed it.
    @Test func aConnectionThatWaitsIsReportedWithItsNextRequest() throws {
        try Self.with { poller, shard, number in
            poller.opened(number)
            poller.watch(number, CURL_POLL_IN, for: shard)
            poller.watch(number, CURL_POLL_REMOVE, for: shard)
            #expect(!Self.isReported(poller, shard))
            poller.watch(number, CURL_POLL_IN, for: shard)
            #expect(Self.isReported(poller, shard))
        }
    }

    @Test func theNumberOfAConnectionThatWasClosedIsThatOfALookup() throws {
        try Self.with { poller, shard, number in
            poller.opened(number)
            poller.watch(number, CURL_POLL_IN, for: shard)
            #expect(Self.isReported(poller, shard))
            poller.watch(number, CURL_POLL_REMOVE, for: shard)
            poller.closed(number)
            try Self.fill(number)
            poller.watch(number, CURL_POLL_IN, for: shard)
            #expect(Self.isReported(poller, shard))
        }
    }

    /// libcurl before 8.2 closes it without a word, and its lookups have sockets that it does not speak of.
    @Test func theNumberOfAConnectionThatWasNeverMadeIsThatOfALookup() throws {
        try Self.with { poller, shard, number in
            poller.opened(number)
            poller.watch(number, CURL_POLL_OUT, for: shard)
            poller.watch(number, CURL_POLL_REMOVE, for: shard)
            for _ in 0..<3 {
                try Self.fill(number)
                poller.watch(number, CURL_POLL_IN, for: shard)
                #expect(Self.isReported(poller, shard))
                poller.watch(number, CURL_POLL_REMOVE, for: shard)
            }
        }
    }
}
