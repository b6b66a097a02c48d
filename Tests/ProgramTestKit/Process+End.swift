package import Foundation

/// The longest wait for what a process, a thread or a connection does.
///
/// On a busy machine a tenth of a second can become more than a minute. Whatever takes longer than this hangs. It is shorter
/// than the time limit of a suite, so that the test says what it waited for.
package let longestWait = Duration.seconds(240)

/// Guards what programs inherit: they start one after the other, and no pipe is made meanwhile.
private let starts = NSLock()

/// Runs `start` while the signals that end a program have their default action and are not blocked, which programs inherit.
///
/// libdispatch's threads, on which tests run, block them, and the trials of `init` can leave them ignored in this process. A
/// program would not end when it is asked to.
private func withEndingSignals(_ start: () throws -> Void) rethrows {
    let numbers = [SIGHUP, SIGINT, SIGQUIT, SIGTERM]
    var (none, mask) = (sigset_t(), sigset_t())
    sigemptyset(&none)
    pthread_sigmask(SIG_SETMASK, &none, &mask)
    let actions = numbers.map { number in
        var (standard, former) = (sigaction(), sigaction())
        sigaction(number, &standard, &former)
        return former
    }
    defer {
        for (number, action) in zip(numbers, actions) {
            var action = action
            sigaction(number, &action, nil)
        }
        pthread_sigmask(SIG_SETMASK, &mask, nil)
    }
    try start()
}

extension Pipe {
    /// Makes a pipe that no program inherits by chance, whose reader would wait for that program's end.
    package static func make() -> Pipe { starts.withLock { Pipe() } }
}

extension Process {
    /// Starts the program. Programs start one after the other.
    ///
    /// Foundation notices an end by a socket that is not closed on exec. A program that starts in the same moment can inherit
    /// that socket, and hides the end until its own: one end of 1,000 came up to 3 s late beside programs that run for 3 s.
    ///
    /// The program has the files that it was given, and here they are closed: Foundation keeps them until the tests end, of all
    /// programs 4,500.
    package func start() throws {
        try starts.withLock { try withEndingSignals { try run() } }
        for case let file as FileHandle in [standardInput, standardOutput, standardError]
        where file.fileDescriptor > STDERR_FILENO && file !== FileHandle.nullDevice { try? file.close() }
    }

    /// Waits for the end without a thread, which the other tests need.
    ///
    /// - Parameter limit: Kills the program after this time, and when the task is cancelled.
    /// - Returns: The exit code, or the signal that ended the program.
    @discardableResult
    package func end(within limit: Duration = longestWait) async -> Int32 {
        let deadline = ContinuousClock.now + limit
        while isRunning {
            if Task.isCancelled || ContinuousClock.now > deadline { kill(processIdentifier, SIGKILL) }
            await pause()
        }
        return terminationStatus
    }
}

/// Gives real processes a moment.
package func pause() async { await pause(milliseconds: 20) }

/// Lets real processes live for a while, on a timer and not on a thread.
package func pause(milliseconds: Int) async {
    await withCheckedContinuation { continuation in
        DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(milliseconds)) { continuation.resume() }
    }
}
