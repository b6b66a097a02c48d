import Glibc
import StarwatchCore

/// The certificates a client trusts, in libcurl's form.
///
/// libcurl accepts one source. Without additional anchors it gets the path of the system bundle, whose parsed form it
/// caches between connections. With additional anchors it gets the bytes of both files.
final class TrustAnchors {
    /// The bundle's path; `nil` when `blob` holds the certificates, or for libcurl's own default.
    let path: String?
    /// The system bundle followed by the additional anchors. Must outlive every handle that uses it.
    let blob: UnsafeMutableRawBufferPointer?

    init(_ options: HTTPClientOptions) throws(APIFailure) {
        guard let caFile = options.caFile else {
            path = options.bundle
            blob = nil
            return
        }
        guard let extra = FileBytes.read(caFile, limit: 4 * 1024 * 1024) else {
            throw .configuration("\(options.caSetting) cannot be read; check its path and permissions.")
        }
        guard extra.contains("-----BEGIN CERTIFICATE-----".utf8) else {
            throw .configuration(
                "\(options.caSetting) contains no PEM certificate; set a file that has BEGIN CERTIFICATE."
            )
        }
        var bytes = options.bundle.flatMap { FileBytes.read($0, limit: 16 * 1024 * 1024) } ?? []
        bytes.append(UInt8(ascii: "\n"))
        bytes.append(contentsOf: extra)
        let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 1)
        memory.copyBytes(from: bytes)
        path = nil
        blob = memory
    }

    deinit { blob?.deallocate() }
}

/// The reading of files.
package enum FileBytes {
    /// The bytes of a file; `nil` when it cannot be read or has more than `limit` bytes.
    package static func read(_ path: String, limit: Int) -> [UInt8]? {
        // O_NONBLOCK: opening a pipe would block the caller.
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        return read(descriptor, limit: limit)
    }

    /// The remaining bytes of an open file; `nil` on an error or when there are more than `limit`.
    static func read(_ descriptor: Int32, limit: Int) -> [UInt8]? {
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 16_384)
        while true {
            let count = Glibc.read(descriptor, &chunk, chunk.count)
            if count == 0 { return bytes }
            if count < 0 {
                guard errno == EINTR else { return nil }
                continue
            }
            guard bytes.count + count <= limit else { return nil }
            bytes.append(contentsOf: chunk[..<count])
        }
    }
}
