import Glibc
import StarwatchCore
import StarwatchPolling
import Synchronization

/// A mark in the black box by the signal that ends the process.
///
/// The handler allocates nothing and takes no lock: the marks are ready, and it adds the time, the checksum, and writes one
/// of them. Then the signal does what it did before.
package enum CrashNotes {
    private static let signals = [SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGTRAP]
    private static let isInstalled = Atomic(false)

    /// Handles the signals from now on. Only for a program that is an agent and nothing else.
    ///
    /// - Parameter hasWatchdog: Whether a service manager watches. It ends a process without progress by SIGABRT.
    package static func install(hasWatchdog: Bool) {
        guard !isInstalled.exchange(true, ordering: .relaxed) else { return }
        crash.frames = .allocate(byteCount: (signals.count + 1) * BlackBoxRecord.slotBytes, alignment: 16)
        crash.former = .allocate(capacity: Int(SIGTRAP) + Int(SIGSEGV) + 1)
        crash.hasWatchdog = hasWatchdog
        for signal in signals {
            var action = sigaction()
            action.__sigaction_handler.sa_sigaction = { number, info, _ in handle(number, info) }
            // On the signal stack, if there is one: that of a thread can be full.
            action.sa_flags = SA_SIGINFO | SA_ONSTACK
            sigaction(signal, &action, crash.former! + Int(signal))
        }
    }

    /// Makes the marks ready for a place in the file.
    static func prepare(_ ring: BlackBoxRing, in descriptor: Int32) {
        guard isInstalled.load(ordering: .relaxed), let frames = crash.frames else { return }
        crash.descriptor = -1
        let texts =
            signals.map { "\(RunEndCause.crashed.rawValue) \($0)" } + ["\(RunEndCause.watchdog.rawValue) \(SIGABRT)"]
        for (index, text) in texts.enumerated() {
            var copy = ring
            let (offset, bytes) = copy.place(.crash, at: Timestamp(milliseconds: 0), text)
            bytes.withUnsafeBytes {
                (frames + index * BlackBoxRecord.slotBytes).copyMemory(
                    from: $0.baseAddress!,
                    byteCount: BlackBoxRecord.slotBytes
                )
            }
            crash.offset = off_t(offset)
        }
        crash.descriptor = descriptor
    }

    /// Forgets the file, which is being closed.
    static func withdraw() { if isInstalled.load(ordering: .relaxed) { crash.descriptor = -1 } }
}

private func handle(_ number: Int32, _ info: UnsafeMutablePointer<siginfo_t>?) {
    if let frames = crash.frames, crash.descriptor >= 0 {
        // Another process sent it: the code of kill(2) is 0.
        let isWatchdog = number == SIGABRT && crash.hasWatchdog && info?.pointee.si_code == 0
        let frame = UnsafeMutableRawBufferPointer(
            start: frames + (isWatchdog ? 6 : index(of: number)) * BlackBoxRecord.slotBytes,
            count: BlackBoxRecord.slotBytes
        )
        BlackBoxRecord.seal(frame, at: SystemClock().now.milliseconds)
        _ = pwrite(crash.descriptor, frame.baseAddress, BlackBoxRecord.slotBytes, crash.offset)
        crash.descriptor = -1
    }
    if let former = crash.former { sigaction(number, former + Int(number), nil) }
    // It stays pending until the handler returns.
    raise(number)
}

/// The index of a signal in the list, without a use of the list, which is an object.
private func index(of number: Int32) -> Int {
    switch number {
    case SIGABRT: 0
    case SIGBUS: 1
    case SIGFPE: 2
    case SIGILL: 3
    case SIGSEGV: 4
    default: 5
    }
}

/// The state of the handler. It is written by the queue of the black box, and read by the handler, which can run at any
/// moment: a mark that is then half ready has a wrong checksum, and is not read.
private struct CrashState {
    var frames: UnsafeMutableRawPointer?
    var former: UnsafeMutablePointer<sigaction>?
    var descriptor: Int32 = -1
    var offset: off_t = 0
    var hasWatchdog = false
}

private nonisolated(unsafe) var crash = CrashState()
