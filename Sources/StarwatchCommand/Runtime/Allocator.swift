import Foundation

/// The process's memory allocator, which is glibc's.
enum Allocator {
    /// Returns freed blocks of 256 KiB and more to the system.
    ///
    /// By default glibc raises that threshold with every larger block that is freed, up to 32 MiB, and keeps smaller
    /// blocks. One large answer would stay in the process's memory for good.
    static func returnLargeBlocks() {
        // No header that Swift imports declares `mallopt`.
        guard let symbol = dlsym(nil, "mallopt") else { return }
        let mallopt = unsafeBitCast(symbol, to: (@convention(c) (CInt, CInt) -> CInt).self)
        let mmapThreshold: CInt = -3
        _ = mallopt(mmapThreshold, 256 * 1024)
    }
}
