import Dispatch
import Foundation

/// Waits for SIGTERM or SIGINT. After its creation these signals no longer end the process.
struct StopSignals {
    private let sources: [any DispatchSourceSignal]
    private let stream: AsyncStream<Void>

    init() {
        let (stream, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingOldest(1))
        self.stream = stream
        sources = [SIGTERM, SIGINT].map { number in
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler { continuation.yield() }
            source.activate()
            return source
        }
    }

    /// Returns when the first signal arrives.
    func first() async {
        for await _ in stream { break }
        for source in sources { source.cancel() }
    }
}
