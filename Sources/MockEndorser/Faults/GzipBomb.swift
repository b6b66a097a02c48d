import CZlib

/// Creates small gzip streams that unpack to large bodies.
enum GzipBomb {
    /// A gzip stream of a JSON text of slightly more than `bytes` bytes, nearly all of them blanks.
    static func make(unpackedBytes bytes: Int) -> [UInt8] {
        var stream = z_stream()
        let code = starwatch_deflate_init_gzip(&stream, 9)
        precondition(code == Z_OK, "zlib failed to initialise: \(code).")
        defer { deflateEnd(&stream) }
        var output: [UInt8] = []
        feed(Array(JSONFiller.head.utf8), flush: Z_NO_FLUSH, &stream, &output)
        let blanks = [UInt8](repeating: UInt8(ascii: " "), count: 1 << 16)
        var left = bytes
        while left > 0 {
            feed(Array(blanks.prefix(left)), flush: Z_NO_FLUSH, &stream, &output)
            left -= blanks.count
        }
        feed(Array(JSONFiller.tail.utf8), flush: Z_FINISH, &stream, &output)
        return output
    }

    private static func feed(_ input: [UInt8], flush: Int32, _ stream: inout z_stream, _ output: inout [UInt8]) {
        var input = input
        var buffer = [UInt8](repeating: 0, count: 1 << 14)
        input.withUnsafeMutableBufferPointer { source in
            stream.next_in = source.baseAddress
            stream.avail_in = UInt32(source.count)
            repeat {
                let room = buffer.count
                let written = buffer.withUnsafeMutableBufferPointer { target in
                    stream.next_out = target.baseAddress
                    stream.avail_out = UInt32(room)
                    _ = deflate(&stream, flush)
                    return room - Int(stream.avail_out)
                }
                output += buffer[..<written]
            } while stream.avail_out == 0
            stream.next_in = nil
        }
    }
}

/// The text around the blanks of an oversized body, valid in both dialects.
enum JSONFiller {
    static let head = "{\"data\":["
    static let tail = "],\"hitLimit\":false,\"pagination\":{\"hasMore\":false,\"nextAfterId\":null}}"
}
