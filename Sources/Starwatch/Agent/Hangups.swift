import Dispatch
import Glibc
import Synchronization

/// SIGHUP, heard from the first ``listen()`` on and over every reload: one that comes between two runs is the next one's.
final class Hangups: Sendable {
    private let signal = Signal()
    private let source = Mutex<(any DispatchSourceSignal)?>(nil)

    init() {}

    deinit { source.withLock { $0?.cancel() } }

    /// Takes the signal, which no longer ends the process.
    func listen() {
        source.withLock { source in
            guard source == nil else { return }
            Glibc.signal(SIGHUP, SIG_IGN)
            let made = DispatchSource.makeSignalSource(signal: SIGHUP, queue: .global())
            made.setEventHandler { [signal] in signal.raise() }
            made.activate()
            source = made
        }
    }

    /// As if the signal had come.
    func raise() { signal.raise() }

    /// Waits for the signal, or for the task's cancellation. Several that came before are one.
    func next() async { await signal.wait() }
}
