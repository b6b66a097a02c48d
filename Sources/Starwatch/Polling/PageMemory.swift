import StarwatchCore
import Synchronization

/// The page of a poll that was decoded last. A poll that finds nothing new is answered with the same bytes every time.
final class PageMemory: Sendable {
    private struct Known {
        let bytes: [UInt8]
        let dialect: Dialect
        let latest: Timestamp
        let page: Page
    }

    /// The longest answer that is kept, in bytes.
    private static let longest = 64 << 10

    private let last = Mutex<Known?>(nil)

    /// The page that an answer is, by `decode` where it is not the last one.
    ///
    /// - Parameter latest: The latest time that an identifier may have. What was right for an earlier one is right.
    func page(
        of bytes: [UInt8],
        dialect: Dialect,
        latest: Timestamp,
        decode: () throws(PageRejection) -> Page
    ) throws(PageRejection) -> Page {
        let known = last.withLock { $0 }
        if let known, known.latest <= latest, known.dialect == dialect, known.bytes == bytes { return known.page }
        let page = try decode()
        // What was refused for its time may be right later.
        if bytes.count <= Self.longest, page.rejected == 0 {
            last.withLock { $0 = Known(bytes: bytes, dialect: dialect, latest: latest, page: page) }
        }
        return page
    }
}
