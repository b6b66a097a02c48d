import CCrypt
import Glibc

/// The check of a password against a bcrypt hash, by the system's libcrypt.
package enum Bcrypt {
    /// The highest accepted cost. A check of it takes about a second, and of every higher one twice as long.
    package static let maximumCost = 14

    /// The cost of a hash; `nil` if the text is no bcrypt hash of an accepted kind.
    package static func cost(of hash: String) -> Int? {
        let parts = hash.split(separator: "$", omittingEmptySubsequences: false)
        guard parts.count == 4, parts[0].isEmpty, ["2a", "2b", "2y"].contains(parts[1]), parts[2].utf8.count == 2,
            let cost = Int(parts[2]), (4...31).contains(cost), parts[3].utf8.count == 53,
            parts[3].utf8.allSatisfy({ $0 == 46 || $0 == 47 || isAlphanumeric($0) })
        else { return nil }
        return cost
    }

    private static func isAlphanumeric(_ byte: UInt8) -> Bool {
        (48...57).contains(byte) || (65...90).contains(byte) || (97...122).contains(byte)
    }

    /// Returns whether the password has the hash. Takes 50 ms or more, so it must not run on an event loop.
    static func matches(_ password: String, _ hash: String) -> Bool {
        // The password ends at a NUL for the library, so another one would match too.
        guard !password.utf8.contains(0), let computed = crypt(password, hash) else { return false }
        return SecretText.isEqual(Array(computed.utf8), Array(hash.utf8))
    }

    /// Takes as long as the check of a password against a hash of `cost`.
    static func waste(_ password: String, cost: Int) {
        let digits = (cost < 10 ? "0" : "") + String(cost)
        _ = crypt(password.utf8.contains(0) ? "" : password, "$2b$\(digits)$" + String(repeating: ".", count: 22))
    }

    private static func crypt(_ password: String, _ setting: String) -> String? {
        var memory: UnsafeMutableRawPointer?
        var size: Int32 = 0
        defer {
            if let memory {
                explicit_bzero(memory, Int(size))
                free(memory)
            }
        }
        guard let text = crypt_ra(password, setting, &memory, &size) else { return nil }
        return String(cString: text)
    }
}

/// The comparison of secrets.
enum SecretText {
    /// Compares in constant time, so that the time does not reveal the first wrong byte. It does reveal the length.
    static func isEqual(_ a: [UInt8], _ b: [UInt8]) -> Bool {
        guard a.count == b.count else { return false }
        var difference: UInt8 = 0
        for i in a.indices { difference |= a[i] ^ b[i] }
        return difference == 0
    }
}
