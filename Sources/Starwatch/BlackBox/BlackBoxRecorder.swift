import Dispatch
import StarwatchCore
package import StarwatchTelemetry
import Synchronization

/// Writes notable log lines, and the marks of runs, into the black box. Refused requests of strangers are not among the
/// lines, because any number of them would push the others out.
///
/// A caller never waits for the disk: a queue of its own writes at once what waits. The file is opened by the first
/// record, so an agent that only answers a question makes none.
package final class BlackBoxRecorder: StarwatchTelemetry.LogSink {
    /// Maximum number of records that wait for a slow disk. Beyond it, the oldest are dropped.
    static let capacity = 1000

    private struct Waiting {
        var records: [(kind: BlackBoxRecord.Kind, at: Timestamp, text: String)] = []
        var isClosed = false
        /// Whether the records are those of a run. Others, such as those of a command, are no signs of its life.
        var isRun = false
    }

    private enum File {
        case unopened
        case open(BlackBoxFile)
        /// It cannot be used, or the agent has closed it.
        case none
    }

    private let path: String?
    private let queue = DispatchQueue(label: "starwatch.blackbox", qos: .utility)
    private let waiting = Mutex(Waiting())
    /// Used on the queue only.
    private let file: Mutex<File>

    /// - Parameter database: The path of the database; `nil` for no file.
    convenience init(besides database: String?) { self.init(path: database.map { BlackBox.path(besides: $0) }) }

    private init(path: String?) {
        self.path = path
        file = Mutex(path == nil ? .none : .unopened)
    }

    /// Another recorder of the same file, after this one is closed.
    func reopened() -> BlackBoxRecorder { BlackBoxRecorder(path: path) }

    package func take(_ entry: StarwatchTelemetry.LogEntry, line: [UInt8]) {
        let time = Timestamp(milliseconds: entry.timestampMilliseconds)
        add(.line, at: time, String(decoding: line.dropLast(), as: UTF8.self))
    }

    func add(_ kind: BlackBoxRecord.Kind, at time: Timestamp, _ text: String = "") {
        let isFirst = waiting.withLock { waiting in
            guard !waiting.isClosed else { return false }
            if waiting.records.count == Self.capacity { waiting.records.removeFirst() }
            waiting.records.append((kind, time, text))
            return waiting.records.count == 1
        }
        if isFirst { queue.async { self.write() } }
    }

    /// The content of the file, which stays unopened; empty if it is not there.
    func storedContent() -> BlackBox.Content {
        path.flatMap { BlackBoxFile.read(path: $0) }.flatMap { try? BlackBox.read($0.bytes) } ?? BlackBox.Content()
    }

    /// Opens the file, and returns what it contained then.
    func open() async -> BlackBox.Content { await onQueue { self.withFile { $0.content } ?? BlackBox.Content() } }

    /// Counts the records from now on as signs of life of a run.
    func beginRun() { waiting.withLock { $0.isRun = true } }

    /// Writes that the run lives. It replaces the former sign, and is not synchronized: a power loss can take it.
    func sign(at time: Timestamp) {
        guard waiting.withLock({ $0.isRun && !$0.isClosed }) else { return }
        queue.async { self.withFile { $0.sign(at: time) } }
    }

    /// Returns when everything is on the disk.
    func flush() async { await onQueue { self.write() } }

    /// Writes what waits, and closes the file, so that the next agent can open it.
    func close() async {
        waiting.withLock { $0.isClosed = true }
        await onQueue {
            self.write()
            CrashNotes.withdraw()
            self.file.withLock { $0 = .none }
        }
    }

    /// Does `work` on the queue. A slow disk then keeps no thread of the caller's executor. Without a file nothing can take
    /// long, so the caller stays on its thread.
    private func onQueue<Value: Sendable>(_ work: @escaping @Sendable () -> Value) async -> Value {
        guard path != nil else { return work() }
        return await withCheckedContinuation { continuation in queue.async { continuation.resume(returning: work()) } }
    }

    private func write() {
        let (records, isRun) = waiting.withLock { waiting in
            defer { waiting.records = [] }
            return (waiting.records, waiting.isRun)
        }
        guard let last = records.last else { return }
        withFile { file in
            for record in records { file.write(record.kind, at: record.at, record.text) }
            if isRun { file.sign(at: last.at) }
            CrashNotes.prepare(file.nextMark, in: file.descriptor)
            file.synchronize()
        }
    }

    @discardableResult
    private func withFile<Value: Sendable>(_ body: @Sendable (BlackBoxFile) -> Value) -> Value? {
        file.withLock { file in
            if case .unopened = file { file = path.flatMap { BlackBoxFile(path: $0) }.map { .open($0) } ?? .none }
            guard case .open(let open) = file else { return nil }
            return body(open)
        }
    }
}
