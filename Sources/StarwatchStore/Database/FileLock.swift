import Glibc

/// An exclusive lock on a file of its own, held until it is released.
///
/// The kernel drops it when the process ends, however it ends.
final class FileLock {
    private var descriptor: Int32

    /// Creates the file with mode 0600 if need be, and takes the lock without waiting.
    init(path: String) throws(StoreError) {
        descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            throw StoreError.io(detail: "lock file: " + SystemText.of(errno))
        }
        if flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
            // Thrown with everything initialised: deinit closes the descriptor, and a second time would be too often.
            let code = errno
            if code == EWOULDBLOCK { throw StoreError.alreadyOpen }
            throw StoreError.io(detail: "lock file: " + SystemText.of(code))
        }
    }

    /// Lets the next agent have the database.
    func release() {
        guard descriptor >= 0 else { return }
        // A child between fork and exec shares the lock, so closing alone would leave it held for that moment.
        flock(descriptor, LOCK_UN)
        close(descriptor)
        descriptor = -1
    }

    deinit { release() }
}
