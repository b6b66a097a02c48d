import Dispatch
import Foundation
import Glibc
package import StarwatchCore

/// Prints title and body to standard output, for a person at a terminal.
package struct StdoutSink: NotificationSink {
    package let name: String
    var descriptor: Int32 = 1
    /// Milliseconds to wait for a reader that accepts no data; all other sinks wait meanwhile.
    var patience: Int32 = 5_000
    var environment = ProcessInfo.processInfo.environment
    private let queue = BlockingQueue(label: "starwatch.sink.stdout")

    package func deliver(_ notification: OutgoingNotification) async -> SinkResult {
        let (title, body) = (notification.title, NotificationPolls.inOneLine(notification.body))
        let line = "\(TerminalText.printable(title)): \(TerminalText.printable(body))\n"
        // The journal would take a title such as `<0>` for a priority.
        let text = Array(LogOptions.Level.info.marked(line, on: descriptor, environment: environment).utf8)
        return await queue.run { [descriptor, patience] in
            text.writeAll(to: descriptor, patience: patience)
                ? .ok : .unavailable(SinkFailure("Standard output cannot be written to.", .output))
        }
    }
}

extension StdoutSink: ConfiguredSink {
    package static let kind = "stdout"
    package static var examples: [(comment: String, sink: SinkOptions)] {
        [("Title and body on standard output, for a person:", SinkOptions(name: "terminal", kind: .stdout))]
    }

    package static func make(_ sink: SinkOptions, by factory: SinkFactory) -> any NotificationSink {
        StdoutSink(name: sink.name)
    }
}

extension SinkOptions.Kind {
    /// Title and body on standard output, for a person.
    public static var stdout: Self { Self(StdoutSink.self) }
}

extension [UInt8] {
    /// Writes all bytes to an open file, with as many calls as needed.
    ///
    /// - Parameter patience: Milliseconds to wait for a reader that accepts no data; `nil` means no limit, for files.
    /// - Returns: `false` on an error, or when the time limit is reached.
    func writeAll(to descriptor: Int32, patience: Int32? = nil) -> Bool {
        var rest = self[...]
        while !rest.isEmpty {
            var most = rest.count
            if let patience {
                var ready = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                let answer = poll(&ready, 1, patience)
                if answer < 0, errno == EINTR { continue }
                guard answer > 0 else { return false }
                // A pipe that is ready accepts this many bytes without blocking.
                most = Swift.min(most, Int(PIPE_BUF))
            }
            let written = rest.withUnsafeBytes { write(descriptor, $0.baseAddress, most) }
            if written < 0 {
                if errno == EINTR { continue }
                return false
            }
            rest = rest.dropFirst(written)
        }
        return true
    }
}

/// Runs blocking calls one at a time on a dedicated thread, so that none blocks a shared executor.
package struct BlockingQueue: Sendable {
    private let queue: DispatchQueue

    package init(label: String) {
        queue = DispatchQueue(label: label)
    }

    /// Runs `body` on the queue and waits for it without blocking the caller's thread.
    package func run<T: Sendable>(_ body: @escaping @Sendable () -> T) async -> T {
        await withCheckedContinuation { continuation in
            queue.async { continuation.resume(returning: body()) }
        }
    }
}
