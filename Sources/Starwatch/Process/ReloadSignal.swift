import Dispatch
import Glibc
import Synchronization

/// SIGHUP, received from the first ``listen()`` on and across reloads. A signal between two runs goes to the next run.
final class ReloadSignal: Sendable {
    private let signal = Signal()
    private let source = Mutex<(any DispatchSourceSignal)?>(nil)

    deinit { source.withLock { $0?.cancel() } }

    /// Handles the signal, which then no longer ends the process.
    func listen() {
        source.withLock { source in
            guard source == nil else { return }
            let made = DispatchSource.makeSignalSource(signal: SIGHUP, queue: .global())
            made.setEventHandler { [signal] in signal.raise() }
            made.activate()
            source = made
        }
    }

    /// Simulates the signal.
    func raise() { signal.raise() }

    /// Waits for the signal. Several earlier signals count as one.
    ///
    /// - Returns: `false` if the task was cancelled.
    func next() async -> Bool { await signal.wait() }
}
