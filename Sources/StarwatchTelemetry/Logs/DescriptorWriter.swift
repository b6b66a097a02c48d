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

    /// - Parameter descriptor: Stays open as long as the writer is used; it is not closed.
    package init(descriptor: Int32 = STDERR_FILENO) {
        self.descriptor = Mutex(descriptor)
    }

    package func take(_ record: LogRecord) {
        descriptor.withLock { descriptor in
            record.line.withUnsafeBytes { Self.writeAll($0, to: descriptor) }
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
