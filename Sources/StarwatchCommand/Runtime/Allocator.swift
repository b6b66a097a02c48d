import Foundation

/// The process's allocator, glibc's.
enum Allocator {
    /// Makes blocks of 256 KiB and more go back to the system when they are freed.
    ///
    /// Left to itself, glibc raises that bound with every larger block that is freed, up to 32 MiB, and keeps what is
    /// smaller: one answer of megabytes then stays in the process's memory for good.
    static func returnLargeBlocks() {
        // `mallopt` is in no header that Swift imports.
        guard let symbol = dlsym(nil, "mallopt") else { return }
        let mallopt = unsafeBitCast(symbol, to: (@convention(c) (CInt, CInt) -> CInt).self)
        let mmapThreshold: CInt = -3
        _ = mallopt(mmapThreshold, 256 * 1024)
    }
}
