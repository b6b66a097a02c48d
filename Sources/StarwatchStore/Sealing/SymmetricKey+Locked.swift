import Crypto
import Glibc

extension SymmetricKey {
    /// The key, whose memory the kernel does not swap to the disk. A limit on locked memory can prevent it, without an error;
    /// the unit has no swap at all.
    var locked: SymmetricKey {
        withUnsafeBytes { _ = mlock($0.baseAddress!, $0.count) }
        return self
    }
}
