import Dispatch
import Glibc
import Synchronization

/// SIGHUP, heard from the first ``listen()`` on and over every reload: one that comes between two runs is the next one's.
final class Hangups: Sendable {
    private let signal = Signal()
    private let source = Mutex<(any DispatchSourceSignal)?>(nil)

    init() {}

    deinit { source.withLock { $0?.cancel() } }

    /// Takes the signal, which then no longer ends the process.
    func listen() {
        source.withLock { source in
            guard source == nil else { return }
            let made = DispatchSource.makeSignalSource(signal: SIGHUP, queue: .global())
            made.setEventHandler { [signal] in signal.raise() }
            made.activate()
            source = made
        }
    }

    /// As if the signal had come.
    func raise() { signal.raise() }

    /// Waits for the signal. Several that came before are one.
    ///
    /// - Returns: `false` when the task was cancelled instead.
    func next() async -> Bool { await signal.wait() }
}
