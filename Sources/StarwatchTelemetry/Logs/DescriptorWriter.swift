import Glibc
import Synchronization

/// Writes whole lines to a file descriptor, without interleaving.
///
/// A stalled reader does not block the agent. The first line waits 100 ms for it in all, whatever thread logs it, and so holds a
/// cycle once; later lines are dropped and counted until it reads again. A queue on another thread would not hold it, and would
/// lose the last lines before a crash, which say why.
package final class DescriptorWriter: LogSink, Sendable {
    private static let patienceMilliseconds: Int32 = 100

    private let descriptor: Int32
    /// Whether the last line was not written completely. The next one then does not wait.
    private let isStalled = Mutex(false)
    private let hasColour: Bool
    private let hasPriority: Bool
    private let onDrop: @Sendable () -> Void
    private let wait: Wait

    /// Waits until a descriptor can be written to, at most some milliseconds. Returns how long it took; `nil` if it cannot.
    package typealias Wait = @Sendable (_ descriptor: Int32, _ milliseconds: Int32) -> Int32?

    /// - Parameters:
    ///   - descriptor: The descriptor to write to, standard error by default. The caller keeps it open.
    ///   - format: The format of the lines.
    ///   - hasColour: Whether lines in the text format are coloured.
    ///   - hasPriority: Whether lines begin with their priority, for the journal.
    ///   - onDrop: Called for every line that was not written completely.
    ///   - wait: Waits for the reader; a test injects the time.
    package init(
        descriptor: Int32 = STDERR_FILENO,
        format: LogFormat = .json,
        hasColour: Bool = false,
        hasPriority: Bool = false,
        onDrop: @escaping @Sendable () -> Void = {},
        wait: @escaping Wait = { DescriptorWriter.waitUntilReady($0, atMost: $1) }
    ) {
        (self.descriptor, self.hasPriority, self.onDrop, self.wait) = (descriptor, hasPriority, onDrop, wait)
        self.hasColour = hasColour && format == .text
    }

    /// Creates a writer for standard error. It uses colour on a terminal that supports it, unless `NO_COLOR` is set, and writes
    /// priorities if the journal reads it.
    package static func standardError(
        format: LogFormat,
        environment: [String: String],
        onDrop: @escaping @Sendable () -> Void
    ) -> DescriptorWriter {
        let isTerminal = isatty(STDERR_FILENO) == 1
        let hasColour = TerminalColour.isWanted(isTerminal: isTerminal, environment: environment)
        let hasPriority = isJournal(STDERR_FILENO, environment: environment)
        return DescriptorWriter(format: format, hasColour: hasColour, hasPriority: hasPriority, onDrop: onDrop)
    }

    package func take(_ entry: LogEntry, line: [UInt8]) {
        var line = line
        if hasColour { line = TerminalColour.painted(line, entry.severity) }
        if hasPriority { line = Array(entry.severity.journalPrefix.utf8) + line }
        let isWritten = isStalled.withLock { isStalled in
            let isWritten = line.withUnsafeBytes {
                writeAll($0, to: descriptor, patience: isStalled ? 0 : Self.patienceMilliseconds)
            }
            isStalled = !isWritten
            return isWritten
        }
        if !isWritten { onDrop() }
    }

    /// Writes all bytes and returns whether it succeeded. Each write has at most `PIPE_BUF` bytes, which a ready pipe
    /// accepts without blocking.
    ///
    /// - Parameter patience: The longest wait for all of them, in milliseconds.
    private func writeAll(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32, patience: Int32) -> Bool {
        var (offset, left) = (0, patience)
        while offset < bytes.count {
            guard let waited = wait(descriptor, left) else { return false }
            left = max(0, left - waited)
            let count = write(descriptor, bytes.baseAddress! + offset, min(bytes.count - offset, Int(PIPE_BUF)))
            if count > 0 {
                offset += count
            } else if count == 0 || (errno != EINTR && errno != EAGAIN) {
                return false
            }
        }
        return true
    }

    private static func waitUntilReady(_ descriptor: Int32, atMost milliseconds: Int32) -> Int32? {
        let start = ContinuousClock.now
        var limit: Int32 = 0
        while true {
            var ready = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
            let answer = poll(&ready, 1, limit)
            let isOver = answer < 0 && errno != EINTR
            // Nothing reads the clock while the reader keeps up.
            let waited = limit == 0 ? 0 : Int32(clamping: Int64((ContinuousClock.now - start) / .milliseconds(1)))
            if answer > 0 { return waited }
            guard !isOver, waited < milliseconds else { return nil }
            limit = milliseconds - waited
        }
    }
}

/// Colours lines in the text format.
///
/// A line is coloured after redaction: the letters of an escape sequence next to a secret would hide its beginning.
package enum TerminalColour {
    /// Whether to use colour: on a terminal that supports it, unless `NO_COLOR` has a value (no-color.org).
    package static func isWanted(isTerminal: Bool, environment: [String: String]) -> Bool {
        guard isTerminal, let kind = environment["TERM"], !kind.isEmpty, kind != "dumb" else { return false }
        return environment["NO_COLOR", default: ""].isEmpty
    }

    /// Colours a line: time and field names are dim, the event is bold, the level has a colour.
    static func painted(_ line: [UInt8], _ severity: LogSeverity) -> [UInt8] {
        guard line.count > LogEntry.eventColumn else { return line }
        var painted: [UInt8] = []
        painted.reserveCapacity(line.count + 160)
        let afterEvent = wordEnd(in: line, from: LogEntry.eventColumn)
        painted.append(line[..<(LogEntry.levelColumn - 1)], in: dim)
        painted.append(line[LogEntry.levelColumn - 1])
        painted.append(line[LogEntry.levelColumn..<LogEntry.eventColumn], in: colour(of: severity))
        painted.append(line[LogEntry.eventColumn..<afterEvent], in: bold)
        var position = afterEvent
        while position < line.count {
            let start = position
            while position < line.count, line[position] == UInt8(ascii: " ") { position += 1 }
            painted += line[start..<position]
            let end = wordEnd(in: line, from: position)
            let word = line[position..<end]
            if let equals = word.firstIndex(of: UInt8(ascii: "=")) {
                painted.append(word[...equals], in: dim)
                painted += word[(equals + 1)...]
            } else {
                painted += word
            }
            position = end
        }
        return painted
    }

    private static let dim = "2"
    private static let bold = "1"

    private static func colour(of severity: LogSeverity) -> String {
        switch severity {
        case .debug: dim
        case .info: "32"
        case .warn: "33"
        case .error: "1;31"
        }
    }

    /// The end of the word that begins at a position: a space outside of quotes, or a line feed.
    private static func wordEnd(in line: [UInt8], from start: Int) -> Int {
        var isQuoted = false
        var position = start
        while position < line.count {
            switch line[position] {
            case UInt8(ascii: "\\") where isQuoted: position += 1
            case UInt8(ascii: "\""): isQuoted.toggle()
            case UInt8(ascii: " ") where !isQuoted: return position
            case 0x0A: return max(position, start + 1)
            default: break
            }
            position += 1
        }
        return line.count
    }
}

extension [UInt8] {
    fileprivate mutating func append(_ bytes: ArraySlice<UInt8>, in style: String) {
        append(text: "\u{1B}[\(style)m")
        self += bytes
        append(text: "\u{1B}[0m")
    }
}
