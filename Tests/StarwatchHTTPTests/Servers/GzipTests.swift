import CZlib
import Testing

@testable import Starwatch
@testable import StarwatchHTTP

@Suite struct GzipTests {
    @Test(arguments: [0, 1, 1023, 1024, 100_000, 3_000_000])
    func compressionRoundTrips(count: Int) throws {
        let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* $0 >> 7) }
        let compressed = try #require(Gzip.compress(bytes))
        #expect(Array(compressed.prefix(3)) == [0x1f, 0x8b, 8])
        #expect(try inflated(compressed, room: count + 1) == bytes)
    }

    @Test func metricsPagesCompressWell() throws {
        let text = (0..<2000).map { "starwatch_poll_duration_seconds_bucket{poll=\"p\",le=\"\($0)\"} \($0)\n" }.joined()
        #expect(try #require(Gzip.compress(Array(text.utf8))).count * 5 < text.utf8.count)
    }

    private func inflated(_ bytes: [UInt8], room: Int) throws -> [UInt8] {
        var stream = z_stream()
        try #require(starwatch_inflate_init_gzip(&stream) == Z_OK)
        defer { inflateEnd(&stream) }
        var input = bytes
        var output = [UInt8](repeating: 0, count: room)
        let (code, count) = input.withUnsafeMutableBufferPointer { source in
            output.withUnsafeMutableBufferPointer { target in
                stream.next_in = source.baseAddress
                stream.avail_in = UInt32(source.count)
                stream.next_out = target.baseAddress
                stream.avail_out = UInt32(target.count)
                return (inflate(&stream, Z_FINISH), Int(stream.total_out))
            }
        }
        try #require(code == Z_STREAM_END)
        return Array(output.prefix(count))
    }
}
