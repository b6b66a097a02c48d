import Glibc

/// An unnamed in-memory file, used as a program's standard input.
///
/// A pipe needs a writer. A program that does not read all its input would break the pipe, and a successful run would
/// look like an error.
struct MemoryFile: ~Copyable {
    private typealias Create = @convention(c) (UnsafePointer<CChar>, CUnsignedInt) -> CInt

    /// `memfd_create`, which Swift's Glibc leaves out.
    private static let create = dlsym(nil, "memfd_create").map { unsafeBitCast($0, to: Create.self) }
    /// `MFD_CLOEXEC`.
    private static let closesOnExec: CUnsignedInt = 1

    let descriptor: CInt

    /// Creates a file with `bytes`, positioned at its beginning; `nil` if the system has no memory or descriptor left.
    init?(_ bytes: [UInt8]) {
        guard let descriptor = Self.create?("starwatch", Self.closesOnExec), descriptor >= 0 else { return nil }
        guard FileWriting.writeAll(bytes, to: descriptor), lseek(descriptor, 0, SEEK_SET) == 0 else {
            close(descriptor)
            return nil
        }
        self.descriptor = descriptor
    }

    deinit { close(descriptor) }
}
