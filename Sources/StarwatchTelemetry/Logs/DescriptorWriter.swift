import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// Writes lines to a file descriptor, one `write(2)` a line, never two lines into each other.
///
/// It blocks while the reader is slow. What cannot be written is lost, as there is nowhere to say so.
package final class DescriptorWriter: LogSink, Sendable {
    private let descriptor: Mutex<Int32>
    private let hasColour: Bool

    /// - Parameters:
    ///   - descriptor: Stays open as long as the writer is used; it is not closed.
    ///   - hasColour: Whether lines in the text format are coloured.
    package init(descriptor: Int32 = STDERR_FILENO, hasColour: Bool = false) {
        self.descriptor = Mutex(descriptor)
        self.hasColour = hasColour
    }

    /// Standard error; in colour if it is a terminal that can show it, and `NO_COLOR` does not forbid it.
    package static func standardError(environment: [String: String]) -> DescriptorWriter {
        let isTerminal = isatty(STDERR_FILENO) == 1
        return DescriptorWriter(hasColour: TerminalColour.isWanted(isTerminal: isTerminal, environment: environment))
    }

    package func take(_ record: LogRecord) {
        var line = record.line
        if hasColour, record.format == .text { line = TerminalColour.painted(line, record.severity) }
        descriptor.withLock { descriptor in
            line.withUnsafeBytes { Self.writeAll($0, to: descriptor) }
        }
    }

    private static func writeAll(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32) {
        var offset = 0
        while offset < bytes.count {
            let count = write(descriptor, bytes.baseAddress! + offset, bytes.count - offset)
            if count > 0 {
                offset += count
            } else if count < 0, errno == EAGAIN {
                // Somebody made the descriptor non-blocking: wait as if it were not.
                var waiting = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                if poll(&waiting, 1, -1) < 0, errno != EINTR { return }
            } else if count == 0 || errno != EINTR {
                return
            }
        }
    }
}
