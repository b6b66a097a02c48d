import Glibc

/// Title and body on standard output, for a person at a terminal.
package struct StdoutSink: NotificationSink {
    package let name: String
    private let descriptor: Int32
    private let queue = BlockingQueue(label: "starwatch.sink.stdout")

    package init(name: String, descriptor: Int32 = 1) {
        self.name = name
        self.descriptor = descriptor
    }

    package func deliver(_ notification: OutgoingNotification) async -> SinkResult {
        let text = Array("\(Self.printable(notification.title)): \(Self.printable(notification.body))\n".utf8)
        return await queue.run { [descriptor] in
            FileWriting.writeAll(text, to: descriptor)
                ? .ok : .unavailable("Standard output cannot be written to.", retryAfter: nil)
        }
    }

    /// Names come from strangers: control characters must not reach the terminal.
    static func printable(_ text: String) -> String {
        String(
            String.UnicodeScalarView(text.unicodeScalars.map { $0.properties.generalCategory == .control ? " " : $0 })
        )
    }
}

enum FileWriting {
    /// Writes all bytes, however many calls it takes. `false` on an error.
    static func writeAll(_ bytes: [UInt8], to descriptor: Int32) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            let written = rest.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
            if written < 0 {
                if errno == EINTR { continue }
                return false
            }
            rest = rest.dropFirst(written)
        }
        return true
    }
}
