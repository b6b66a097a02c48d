import Foundation

/// The process's allocator, from glibc.
enum Allocator {
    /// Returns blocks of 256 KiB and more to the system when they are freed.
    ///
    /// By default, glibc raises that bound with every larger freed block, up to 32 MiB, and keeps smaller ones. A
    /// single answer of megabytes would then stay in the process's memory.
    static func returnLargeBlocks() {
        // `mallopt` is in no header that Swift imports.
        guard let symbol = dlsym(nil, "mallopt") else { return }
        let mallopt = unsafeBitCast(symbol, to: (@convention(c) (CInt, CInt) -> CInt).self)
        let mmapThreshold: CInt = -3
        _ = mallopt(mmapThreshold, 256 * 1024)
    }
}
