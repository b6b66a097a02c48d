import Glibc

/// The process's memory, in which keys and names are in clear form.
enum ProcessMemory {
    /// `PR_GET_DUMPABLE` and `PR_SET_DUMPABLE`, whose header Swift does not import.
    private static let (get, set) = (CInt(3), CInt(4))

    /// Denies other processes of the same user to read the memory, and the kernel to write it into a file of a crash.
    ///
    /// A debugger or profiler of that user can no longer attach; root's can.
    static func hide() {
        call(set, 0)
    }

    /// Whether ``hide()`` has taken effect.
    static var isHidden: Bool { call(get, 0) == 0 }

    @discardableResult private static func call(_ operation: CInt, _ value: CUnsignedLong) -> CInt {
        // Swift imports no variadic function.
        guard let symbol = dlsym(nil, "prctl") else { return -1 }
        typealias Control = @convention(c) (CInt, CUnsignedLong, CUnsignedLong, CUnsignedLong, CUnsignedLong) -> CInt
        return unsafeBitCast(symbol, to: Control.self)(operation, value, 0, 0, 0)
    }
}
