import Foundation
import Glibc
package import StarwatchCore
import Synchronization

/// Appends each notification to a file as a line of JSON, exactly once.
///
/// A crash between the write and its record brings the same notification again. So the sink knows the last ids that
/// are in the file: it reads them when it first writes, and cuts off a last line that a crash left unfinished. The file
/// may be rotated at any time, by renaming or by copying and truncating: it is opened for each line, and the ids of the
/// files that were rotated last are read too.
package final class FileSink: NotificationSink {
    package let name: String
    private let path: String
    private let queue: BlockingQueue
    private let others: Set<String>
    private let memory: Int
    private let seen = Mutex<RecentIDs?>(nil)

    /// - Parameters:
    ///   - others: The files of other sinks, which are no rotated ones of this.
    ///   - memory: How many ids are known: far more than are ever under way at once.
    package init(name: String, path: String, others: [String] = [], memory: Int = 10_000) {
        self.name = name
        self.path = path
        self.others = Set(others.map(RotatedFiles.plain))
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
            if seen == nil { seen = Self.recover(descriptor, path: path, others: others, memory: memory) }
            guard let isWritten = seen?.contains(notification.id) else { return failure }
            guard !isWritten else { return .ok }
            let end = lseek(descriptor, 0, SEEK_END)
            guard FileWriting.writeAll(notification.payload + [UInt8(ascii: "\n")], to: descriptor),
                fsync(descriptor) == 0, end > 0 || Self.keepName(of: path)
            else {
                // Half a line must not stay: the next attempt would join it. Where it cannot be cut off now, the
                // next attempt does, or finds the line whole. A file that was truncated meanwhile must not grow.
                if lseek(descriptor, 0, SEEK_END) < end || ftruncate(descriptor, end) != 0 { seen = nil }
                return failure
            }
            seen?.insert(notification.id)
            return .ok
        }
    }

    /// Makes sure that a new file is still there after a power cut.
    private static func keepName(of path: String) -> Bool {
        let directory = open(RotatedFiles.directory(of: path), O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard directory >= 0 else { return false }
        defer { close(directory) }
        return fsync(directory) == 0
    }

    /// How much of a file's end is read: far more than what a crash can leave unconfirmed.
    private static let recoveredBytes = 16 * 1_048_576
    /// A rotation while a notification is under way moves it to one file; a second one is for what rotates twice.
    private static let rotatedFiles = 2

    /// The ids at the end of the file, after an unfinished last line was cut off, and of those that were rotated; `nil`
    /// when the file cannot be read.
    private static func recover(
        _ descriptor: Int32,
        path: String,
        others: Set<String>,
        memory: Int
    ) -> RecentIDs? {
        var ids = RecentIDs(capacity: memory)
        for rotated in RotatedFiles.newest(rotatedFiles, of: path, except: others).reversed() {
            let descriptor = open(rotated, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
            guard descriptor >= 0 else { continue }
            defer { close(descriptor) }
            if let tail = readTail(descriptor) { insert(tail.lines, into: &ids) }
        }
        guard let tail = readTail(descriptor) else { return nil }
        if tail.end < tail.size, ftruncate(descriptor, off_t(tail.end)) != 0 { return nil }
        // What is there was written, but who knows whether it stays: the one who wrote it did not come that far.
        guard fsync(descriptor) == 0 else { return nil }
        insert(tail.lines, into: &ids)
        return ids
    }

    private static func insert(_ lines: Data, into ids: inout RecentIDs) {
        struct Line: Decodable { var id: String }
        let decoder = JSONDecoder()
        for line in lines.split(separator: UInt8(ascii: "\n")) {
            if let line = try? decoder.decode(Line.self, from: Data(line)) { ids.insert(line.id) }
        }
    }

    /// The whole lines at a file's end, and where they end; `nil` when it cannot be read.
    private static func readTail(_ descriptor: Int32) -> (lines: Data, end: Int, size: Int)? {
        let size = Int(lseek(descriptor, 0, SEEK_END))
        guard size >= 0 else { return nil }
        let start = max(0, size - recoveredBytes)
        var tail = Data(count: size - start)
        let count = tail.withUnsafeMutableBytes { pread(descriptor, $0.baseAddress, $0.count, off_t(start)) }
        guard count == size - start else { return nil }
        let complete = tail.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
        // A line longer than what was read is nothing this sink wrote.
        guard complete > 0 || start == 0 else { return nil }
        return (tail[..<complete], start + complete, size)
    }
}
