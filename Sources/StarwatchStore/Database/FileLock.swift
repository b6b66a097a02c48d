import Glibc

/// An exclusive lock on a separate file, held until ``release()``.
///
/// The kernel releases it when the process ends, even after a crash.
final class FileLock {
    private var descriptor: Int32

    /// Creates the file with mode 0600 if it does not exist, and takes the lock without waiting.
    init(path: String) throws(StoreError) {
        descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            throw StoreError.io(detail: "lock file: " + SystemText.of(errno))
        }
        if flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
            // All properties are initialised, so `deinit` closes the descriptor. It must not be closed here too.
            let code = errno
            if code == EWOULDBLOCK { throw StoreError.alreadyOpen }
            throw StoreError.io(detail: "lock file: " + SystemText.of(code))
        }
    }

    /// Releases the lock, so that another agent can open the database.
    func release() {
        guard descriptor >= 0 else { return }
        // A child process between fork and exec shares the lock. Closing the descriptor would leave it locked for that
        // moment.
        flock(descriptor, LOCK_UN)
        close(descriptor)
        descriptor = -1
    }

    deinit { release() }
}
