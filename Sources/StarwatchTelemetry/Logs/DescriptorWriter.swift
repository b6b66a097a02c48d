import Glibc
import Synchronization

/// Writes whole lines to a file descriptor, without interleaving.
///
/// A stalled reader does not block the agent. The first line waits 100 ms for it, whatever thread logs it, and so holds a cycle
/// once; later lines are dropped and counted until it reads again. A queue on another thread would not hold it, and would lose
/// the last lines before a crash, which say why.
package final class DescriptorWriter: LogSink, Sendable {
    private struct State {
        let descriptor: Int32
        var isStalled = false
    }

    private static let patienceMilliseconds: Int32 = 100

    private let state: Mutex<State>
    private let hasColour: Bool
    private let onDrop: @Sendable () -> Void

    /// - Parameters:
    ///   - descriptor: The descriptor to write to, standard error by default. The caller keeps it open.
    ///   - hasColour: Whether lines in the text format are coloured.
    ///   - onDrop: Called for every line that was not written completely.
    package init(
        descriptor: Int32 = STDERR_FILENO,
        hasColour: Bool = false,
        onDrop: @escaping @Sendable () -> Void = {}
    ) {
        state = Mutex(State(descriptor: descriptor))
        self.hasColour = hasColour
        self.onDrop = onDrop
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
                Self.writeAll($0, to: state.descriptor, patience: state.isStalled ? 0 : Self.patienceMilliseconds)
            }
            state.isStalled = !isWritten
            return isWritten
        }
        if !isWritten { onDrop() }
    }

    /// Writes all bytes and returns whether it succeeded. Each write has at most `PIPE_BUF` bytes, which a ready pipe
    /// accepts without blocking.
    private static func writeAll(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32, patience: Int32) -> Bool {
        var offset = 0
        while offset < bytes.count {
            var ready = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
            let answer = poll(&ready, 1, patience)
            if answer < 0, errno == EINTR { continue }
            guard answer > 0 else { return false }
            let count = write(descriptor, bytes.baseAddress! + offset, min(bytes.count - offset, Int(PIPE_BUF)))
            if count > 0 {
                offset += count
            } else if count == 0 || (errno != EINTR && errno != EAGAIN) {
                return false
            }
        }
        return true
    }
}
