import Glibc
import Synchronization

/// Writes whole lines to a file descriptor, without interleaving.
///
/// A stalled reader does not block the agent. The first line waits 100 ms for it in all, whatever thread logs it, and so holds a
/// cycle once; later lines are dropped and counted until it reads again. A queue on another thread would not hold it, and would
/// lose the last lines before a crash, which say why.
package final class DescriptorWriter: LogSink, Sendable {
    private struct State {
        let descriptor: Int32
        var isStalled = false
    }

    private static let patienceMilliseconds: Int32 = 100

    private let state: Mutex<State>
    private let hasColour: Bool
    private let onDrop: @Sendable () -> Void
    private let wait: Wait

    /// Waits until a descriptor can be written to, at most some milliseconds. Returns how long it took; `nil` if it cannot.
    package typealias Wait = @Sendable (_ descriptor: Int32, _ milliseconds: Int32) -> Int32?

    /// - Parameters:
    ///   - descriptor: The descriptor to write to, standard error by default. The caller keeps it open.
    ///   - hasColour: Whether lines in the text format are coloured.
    ///   - onDrop: Called for every line that was not written completely.
    ///   - wait: Waits for the reader; a test injects the time.
    package init(
        descriptor: Int32 = STDERR_FILENO,
        hasColour: Bool = false,
        onDrop: @escaping @Sendable () -> Void = {},
        wait: @escaping Wait = { DescriptorWriter.waitUntilReady($0, atMost: $1) }
    ) {
        state = Mutex(State(descriptor: descriptor))
        self.hasColour = hasColour
        self.onDrop = onDrop
        self.wait = wait
    }

    /// Creates a writer for standard error. It uses colour on a terminal that supports it, unless `NO_COLOR` is set.
    package static func standardError(
        environment: [String: String],
        onDrop: @escaping @Sendable () -> Void
    ) -> DescriptorWriter {
        let isTerminal = isatty(STDERR_FILENO) == 1
        let hasColour = TerminalColour.isWanted(isTerminal: isTerminal, environment: environment)
        return DescriptorWriter(hasColour: hasColour, onDrop: onDrop)
    }

    package func take(_ record: LogRecord) {
        var line = record.line
        if hasColour, record.format == .text { line = TerminalColour.painted(line, record.severity) }
        let isWritten = state.withLock { state in
            let isWritten = line.withUnsafeBytes {
                writeAll($0, to: state.descriptor, patience: state.isStalled ? 0 : Self.patienceMilliseconds)
            }
            state.isStalled = !isWritten
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
