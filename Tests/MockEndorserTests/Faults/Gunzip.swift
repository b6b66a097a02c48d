import CZlib
import Foundation

/// Measures gzip streams.
enum Gunzip {
    struct Damaged: Error {}

    /// The unpacked size of a stream, in bytes.
    static func length(of data: Data) throws -> Int {
        var stream = z_stream()
        guard starwatch_inflate_init_gzip(&stream) == Z_OK else { throw Damaged() }
        defer { inflateEnd(&stream) }
        var input = Array(data)
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        return try input.withUnsafeMutableBufferPointer { source in
            stream.next_in = source.baseAddress
            stream.avail_in = UInt32(source.count)
            while true {
                let code = buffer.withUnsafeMutableBufferPointer { target in
                    stream.next_out = target.baseAddress
                    stream.avail_out = UInt32(target.count)
                    return inflate(&stream, Z_NO_FLUSH)
                }
                if code == Z_STREAM_END { return Int(stream.total_out) }
                guard code == Z_OK else { throw Damaged() }
            }
        }
    }
}
