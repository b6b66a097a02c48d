import Foundation
import Glibc
import Synchronization

/// Appends each notification to a file as a line of JSON, exactly once.
///
/// A crash between the write and its record brings the same notification again. So the sink knows the last ids that
/// are in the file: it reads them when it first writes, and cuts off a last line that a crash left unfinished.
package final class FileSink: NotificationSink {
    package let name: String
    private let path: String
    private let queue: BlockingQueue
    private let memory: Int
    private let seen = Mutex<RecentIDs?>(nil)

    /// - Parameter memory: How many ids are known: far more than are ever under way at once.
    package init(name: String, path: String, memory: Int = 10_000) {
        self.name = name
        self.path = path
        self.memory = memory
        self.queue = BlockingQueue(label: "starwatch.sink.\(name)")
    }

    package func deliver(_ notification: OutgoingNotification) async -> SinkResult {
        await queue.run { self.append(notification) }
    }

    /// Runs on the queue only, one call at a time.
    private func append(_ notification: OutgoingNotification) -> SinkResult {
        let failure = SinkResult.unavailable("The sink's file cannot be written to.", retryAfter: nil)
        let descriptor = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { return failure }
        defer { close(descriptor) }
        return seen.withLock { seen in
            if seen == nil { seen = Self.recover(descriptor, memory: memory) }
            guard let isWritten = seen?.contains(notification.id) else { return failure }
            guard !isWritten else { return .ok }
            let end = lseek(descriptor, 0, SEEK_END)
            guard FileWriting.writeAll(notification.payload + [UInt8(ascii: "\n")], to: descriptor),
                fsync(descriptor) == 0
            else {
                // Half a line must not stay: the next attempt would join it. Where it cannot be cut off now, the
                // next attempt does, or finds the line whole.
                if ftruncate(descriptor, end) != 0 { seen = nil }
                return failure
            }
            seen?.insert(notification.id)
            return .ok
        }
    }

    /// How much of the file's end is read: far more than what a crash can leave unconfirmed.
    private static let recoveredBytes = 16 * 1_048_576

    /// The ids at the end of the file, after an unfinished last line was cut off; `nil` when it cannot be read.
    private static func recover(_ descriptor: Int32, memory: Int) -> RecentIDs? {
        struct Line: Decodable { var id: String }
        let end = Int(lseek(descriptor, 0, SEEK_END))
        guard end >= 0 else { return nil }
        let start = max(0, end - recoveredBytes)
        var tail = Data(count: end - start)
        let count = tail.withUnsafeMutableBytes { pread(descriptor, $0.baseAddress, $0.count, off_t(start)) }
        guard count == end - start else { return nil }
        let complete = tail.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
        // A line longer than what was read is nothing this sink wrote.
        guard complete > 0 || start == 0 else { return nil }
        if start + complete < end, ftruncate(descriptor, off_t(start + complete)) != 0 { return nil }
        // What is there was written, but who knows whether it stays: the one who wrote it did not come that far.
        guard fsync(descriptor) == 0 else { return nil }
        let decoder = JSONDecoder()
        var ids = RecentIDs(capacity: memory)
        for line in tail[..<complete].split(separator: UInt8(ascii: "\n")) {
            if let line = try? decoder.decode(Line.self, from: Data(line)) { ids.insert(line.id) }
        }
        return ids
    }
}
