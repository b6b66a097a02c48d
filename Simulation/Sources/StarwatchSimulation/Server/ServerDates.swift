import Glibc

/// Formats of a date in HTTP. The C library writes them, so that the agent's code does not check itself.
enum DateForm: CaseIterable {
    case preferred, rfc850, asctime

    private var pattern: String {
        switch self {
        case .preferred: "%a, %d %b %Y %H:%M:%S GMT"
        case .rfc850: "%A, %d-%b-%y %H:%M:%S GMT"
        case .asctime: "%a %b %e %H:%M:%S %Y"
        }
    }

    /// - Parameter seconds: Since 1970.
    func text(_ seconds: Int64) -> String {
        var time = time_t(seconds)
        var parts = tm()
        gmtime_r(&time, &parts)
        return withUnsafeTemporaryAllocation(of: CChar.self, capacity: 64) { buffer in
            let count = strftime(buffer.baseAddress!, 64, pattern, &parts)
            return String(decoding: buffer.prefix(count).map(UInt8.init(bitPattern:)), as: UTF8.self)
        }
    }
}
