import Foundation
import Glibc
package import StarwatchCore
package import StarwatchPolling

/// Appends each notification to a file as one line of JSON, exactly once.
///
/// After a crash between the write and its record, the same notification comes again. The sink therefore remembers the
/// last ids in the file. Before its first write it reads those ids and removes a last line that a crash left
/// unfinished. An unfinished line of another program stays and is ended.
///
/// The file must be a regular one, not a link, and only root and the agent's user can change it.
///
/// The file can be rotated at any time, by renaming or by copying and truncating. The sink opens the file for each
/// line, and also reads the ids of the most recently rotated files.
///
/// Each of many accounts has a file of its own, in whose name its pseudonym stands.
package struct FileSink: NotificationSink {
    package let name: String
    private var path: String
    /// The files of other sinks. They never count as rotated files of this sink.
    private var others: [String]
    let writer: FileWriter
    package var pseudonym: (@Sendable (DID) -> String)?

    /// - Parameters:
    ///   - memory: Number of ids to remember of a file: far more than are in progress at once.
    ///   - time: The clock of the time limit for the file system.
    package init(
        name: String,
        path: String,
        others: [String] = [],
        memory: Int = 10_000,
        time: any TimeSource = SystemClock()
    ) {
        (self.name, self.path, self.others) = (name, path, others)
        writer = FileWriter(name, memory: memory, time: time)
    }

    package var host: String { path }

    package func sink(of account: DID, at address: SinkAddress) -> FileSink {
        guard let digits = pseudonym?(account).split(separator: ":").last else { return self }
        var sink = self
        sink.path = Self.file(path, of: digits)
        sink.others = others.map { Self.file($0, of: digits) }
        return sink
    }

    /// The file of an account: `out.jsonl` becomes `out.0123456789abcdef.jsonl`.
    private static func file(_ path: String, of digits: Substring) -> String {
        let name = path[(path.lastIndex(of: "/").map(path.index(after:)) ?? path.startIndex)...]
        let end = name.dropFirst().lastIndex(of: ".") ?? path.endIndex
        return path[..<end] + "." + digits + path[end...]
    }

    package func deliver(_ notification: OutgoingNotification) async -> SinkResult {
        await writer.run { append(notification, &$0) }
    }

    /// Appends one line. Runs only on the queue, one call at a time.
    private func append(_ notification: OutgoingNotification, _ files: inout RecentFiles) -> SinkResult {
        let failure = SinkResult.unavailable(SinkFailure("The sink's file cannot be written to.", .output))
        let descriptor = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0o600)
        guard descriptor >= 0 else {
            let code = errno
            let sentence = "The sink's file cannot be opened (\(ErrnoText.of(code)))."
            return code == ELOOP ? Self.strange : .unavailable(SinkFailure(sentence, .output))
        }
        defer { close(descriptor) }
        guard Self.isOwn(descriptor) else { return Self.strange }
        guard var ids = files.take(path) ?? recover(descriptor, before: notification.payload) else { return failure }
        if !ids.contains(notification.id) {
            let end = lseek(descriptor, 0, SEEK_END)
            guard (notification.payload + [UInt8(ascii: "\n")]).writeAll(to: descriptor),
                fsync(descriptor) == 0, end > 0 || Self.keepName(of: path)
            else {
                // A partial line must not stay, because the next attempt would append to it. If truncating fails now, the
                // file is read again before the next attempt, which truncates it, or finds the line complete. Truncating
                // must not extend a file that was truncated meanwhile.
                if lseek(descriptor, 0, SEEK_END) >= end, ftruncate(descriptor, end) == 0 { files.keep(ids, of: path) }
                return failure
            }
            ids.insert(notification.id)
        }
        files.keep(ids, of: path)
        return .ok
    }

    private static let strange = SinkResult.unavailable(
        SinkFailure(
            "The sink's file is a link or no regular file, or other users own it or can write to it; run chown and "
                + "chmod 600 on it, or choose another path.",
            .output
        )
    )

    /// Returns whether only root and the agent's user can change the open file.
    private static func isOwn(_ descriptor: Int32) -> Bool {
        FileAccess(regularFile: descriptor).map { $0.fileProblem(for: geteuid()) == nil } ?? false
    }

    /// Syncs the directory, so that a new file survives a power cut.
    private static func keepName(of path: String) -> Bool {
        let directory = open(RotatedFiles.directory(of: path), O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard directory >= 0 else { return false }
        defer { close(directory) }
        return fsync(directory) == 0
    }

    /// Number of bytes read from the end of a file: far more than a crash can leave unconfirmed.
    private static let recoveredBytes = 16 * 1_048_576
    /// Number of rotated files to read. One rotation moves a notification in progress to one file; the second covers
    /// two rotations.
    private static let rotatedFiles = 2

    /// Number of bytes by which the sink knows the beginning of a line of its own.
    private static let knownBytes = 8

    /// Returns the ids at the end of the file and of the rotated files, after removing an unfinished last line; `nil`
    /// if the file cannot be read.
    ///
    /// - Parameter next: The line to write next. Lines of this sink all begin like it.
    private func recover(_ descriptor: Int32, before next: [UInt8]) -> RecentIDs? {
        var ids = RecentIDs(capacity: writer.memory)
        let others = Set(others.map(RotatedFiles.plain))
        for rotated in RotatedFiles.newest(Self.rotatedFiles, of: path, except: others).reversed() {
            let descriptor = open(rotated, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW)
            guard descriptor >= 0 else { continue }
            defer { close(descriptor) }
            // Another user could name ids there, which would then never be written.
            guard Self.isOwn(descriptor) else { continue }
            if let tail = Self.readTail(descriptor) { Self.insert(tail.lines, into: &ids) }
        }
        guard let tail = Self.readTail(descriptor) else { return nil }
        if !tail.rest.isEmpty {
            let isOurs = zip(tail.rest, next).prefix(Self.knownBytes).allSatisfy(==)
            let isEnded =
                isOurs
                ? ftruncate(descriptor, off_t(tail.end)) == 0
                : [UInt8(ascii: "\n")].writeAll(to: descriptor)
            guard isEnded else { return nil }
        }
        // The earlier run wrote these lines but can have crashed before it synced them.
        guard fsync(descriptor) == 0 else { return nil }
        Self.insert(tail.lines, into: &ids)
        return ids
    }

    private static func insert(_ lines: Data, into ids: inout RecentIDs) {
        struct Line: Decodable { var id: String }
        let decoder = JSONDecoder()
        for line in lines.split(separator: UInt8(ascii: "\n")) {
            if let line = try? decoder.decode(Line.self, from: Data(line)) { ids.insert(line.id) }
        }
    }

    /// Returns the complete lines at the end of a file, their end offset and the unfinished line after it; `nil` if the
    /// file cannot be read.
    private static func readTail(_ descriptor: Int32) -> (lines: Data, end: Int, rest: Data)? {
        let size = Int(lseek(descriptor, 0, SEEK_END))
        guard size >= 0 else { return nil }
        let start = max(0, size - recoveredBytes)
        var tail = Data(count: size - start)
        let count = tail.withUnsafeMutableBytes { pread(descriptor, $0.baseAddress, $0.count, off_t(start)) }
        guard count == size - start else { return nil }
        let complete = tail.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
        // This sink never writes a line longer than the part that was read.
        guard complete > 0 || start == 0 else { return nil }
        return (tail[..<complete], start + complete, tail[complete...])
    }
}

extension FileSink: ConfiguredSink {
    package static let kind = "file"
    package static let settings = [SinkSetting("path", .newFile, isNeeded: true), .canary]
    package static let setups = [
        SetupSink(kind, .file(path: ""), rank: 6, [.init("path", form: "PATH", "The file")])
    ]
    package static var examples: [(comment: String, sink: SinkOptions)] {
        [("JSON lines appended to a file:", SinkOptions(name: "journal", kind: .file(path: "./notifications.jsonl")))]
    }

    package static func make(_ sink: SinkOptions, by factory: SinkFactory) -> any NotificationSink {
        let others = factory.delivery.sinks.filter { $0.name != sink.name }.flatMap { $0.values(of: .output) }
        let path = sink["path"]?.text ?? ""
        return FileSink(name: sink.name, path: path, others: others.compactMap(\.value.text))
    }
}

extension SinkOptions.Kind {
    /// JSON lines appended to a file of mode 0600.
    public static func file(path: String) -> Self { Self(FileSink.self, ["path": .text(path)]) }
}

/// Finds the files that logrotate leaves next to a file: `out.jsonl.1`, `out.jsonl-20260101`.
enum RotatedFiles {
    /// Returns the paths of the most recently written files, newest first. Compressed files cannot be read; logrotate
    /// can leave the last one uncompressed (`delaycompress`).
    ///
    /// - Parameter others: Unrelated files, which are excluded even if their names match.
    static func newest(_ count: Int, of path: String, except others: Set<String> = []) -> [String] {
        let (folder, name) = (directory(of: path), path.split(separator: "/").last.map(String.init) ?? path)
        let all = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        let rotated = all.filter { other in
            other.hasPrefix(name) && isMark(other.dropFirst(name.count))
                && !others.contains(plain(folder + "/" + other))
        }
        let dated = rotated.compactMap { other -> (path: String, date: Date)? in
            let path = folder + "/" + other
            guard let attributes = try? FileManager.default.attributesOfItem(atPath: path),
                attributes[.type] as? FileAttributeType == .typeRegular,
                let date = attributes[.modificationDate] as? Date
            else { return nil }
            return (path, date)
        }
        return dated.sorted { $0.date > $1.date }.prefix(count).map(\.path)
    }

    /// Returns `true` for `.1`, or for a date or time after `-`: `-20260101`, `-2026-01-01`, `-20260101-1767225600`.
    private static func isMark(_ suffix: Substring) -> Bool {
        guard let first = suffix.first, let second = suffix.dropFirst().first, second.isASCII, second.isNumber else {
            return false
        }
        let rest = suffix.dropFirst()
        return switch first {
        case ".": rest.allSatisfy { $0.isASCII && $0.isNumber }
        case "-": rest.allSatisfy { $0.isASCII && $0.isNumber || $0 == "-" }
        default: false
        }
    }

    /// Returns the path in standard form, so that two spellings compare equal.
    static func plain(_ path: String) -> String { URL(filePath: path).standardizedFileURL.path }

    static func directory(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }
}
