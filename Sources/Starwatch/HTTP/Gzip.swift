import CZlib

/// gzip, for answers that are worth it.
package enum Gzip {
    /// `bytes` as one gzip member at zlib's level 1; `nil` if zlib has no memory.
    package static func compress(_ bytes: [UInt8]) -> [UInt8]? {
        let capacity = starwatch_gzip_bound(bytes.count)
        var code: Int32 = Z_OK
        let compressed = [UInt8](unsafeUninitializedCapacity: capacity) { buffer, count in
            bytes.withUnsafeBufferPointer { source in
                code = starwatch_gzip(source.baseAddress, source.count, 1, buffer.baseAddress, capacity, &count)
            }
        }
        return code == Z_OK ? compressed : nil
    }
}
