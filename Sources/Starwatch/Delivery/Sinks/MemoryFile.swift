import Glibc

/// A file without a name that holds some bytes in memory, to be a program's standard input.
///
/// A pipe would need someone who writes, and a program that does not read all of it would then break the pipe: that
/// is an error at best, although the program did its work.
struct MemoryFile: ~Copyable {
    private typealias Create = @convention(c) (UnsafePointer<CChar>, CUnsignedInt) -> CInt

    /// `memfd_create`, which Swift's Glibc leaves out.
    private static let create = dlsym(nil, "memfd_create").map { unsafeBitCast($0, to: Create.self) }
    /// `MFD_CLOEXEC`.
    private static let closesOnExec: CUnsignedInt = 1

    let descriptor: CInt

    /// Makes a file of `bytes` that is read from its beginning; `nil` when the system has no memory or descriptor.
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
