import Glibc

/// The head of a response, received line by line.
struct ResponseHead {
    /// The limit for all heads and trailers of a response together. Only some versions of libcurl have a limit.
    private static let limitBytes = 256 * 1024

    /// The lines of the last head without its status line.
    private(set) var block: [UInt8] = []
    private(set) var isComplete = false
    private var receivedBytes = 0

    /// Appends a line. A status line begins a new head, after `100 Continue`; trailers are ignored.
    ///
    /// - Returns: `false` beyond the size limit.
    mutating func receive(_ line: UnsafeRawBufferPointer) -> Bool {
        receivedBytes += line.count
        guard receivedBytes <= Self.limitBytes else { return false }
        if line.count > 5, let start = line.baseAddress, memcmp(start, "HTTP/", 5) == 0 {
            block.removeAll(keepingCapacity: true)
            isComplete = false
        } else if line.count <= 2 {
            isComplete = true
        } else if !isComplete {
            if block.isEmpty { block.reserveCapacity(512) }
            block.append(contentsOf: line)
        }
        return true
    }
}
