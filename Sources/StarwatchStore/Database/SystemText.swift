import Glibc

/// The system's text for an `errno`. Unlike `strerror`, it is thread-safe.
package enum SystemText {
    package static func of(_ code: Int32) -> String {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: 256) { buffer in
            guard let base = buffer.baseAddress, strerror_r(code, base, buffer.count) == 0 else {
                return "error \(code)"
            }
            return String(cString: base)
        }
    }
}
