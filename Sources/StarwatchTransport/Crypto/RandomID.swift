import Glibc
import Synchronization

/// Random identifiers from the system's generator.
package enum RandomID {
    /// The source of random words, so that a simulation is repeatable; `nil` for the system's generator.
    @TaskLocal package static var words: Words?

    /// A source of random words. A structure, because Swift 6.3 crashes in optimised builds if a task-local value is a
    /// function.
    package struct Words: Sendable {
        let next: @Sendable () -> UInt64

        package init(next: @escaping @Sendable () -> UInt64) { self.next = next }
    }

    private struct Generator: RandomNumberGenerator {
        private let words = RandomID.words

        func next() -> UInt64 { words?.next() ?? RandomID.systemWord() }
    }

    private static let stock = Mutex<[UInt64]>([])

    /// A word of the system's generator, which gives many with each system call. A cycle needs five, which took three calls
    /// (`strace -c` of `Benchmarks/poll cycles`).
    private static func systemWord() -> UInt64 {
        stock.withLock { words in
            if let word = words.popLast() { return word }
            var system = SystemRandomNumberGenerator()
            // The largest number of bytes that the system gives at once.
            words = Array(unsafeUninitializedCapacity: 32) { buffer, count in
                count = getentropy(buffer.baseAddress, 256) == 0 ? 32 : 0
            }
            return words.popLast() ?? system.next()
        }
    }

    /// A version 4 UUID in lower case.
    package static func uuid() -> String {
        var generator = Generator()
        return uuid(using: &generator)
    }

    /// A version 4 UUID in lower case from `generator`.
    package static func uuid(using generator: inout some RandomNumberGenerator) -> String {
        uuid(generator.next(), generator.next())
    }

    private static func uuid(_ first: UInt64, _ second: UInt64) -> String {
        let words = (first & ~0xf000 | 0x4000, second & ~(0b11 << 62) | 0b10 << 62)
        return withUnsafeBytes(of: (words.0.bigEndian, words.1.bigEndian)) { bytes in
            String(unsafeUninitializedCapacity: 36) { output in
                var position = 0
                for (index, byte) in bytes.enumerated() {
                    if index == 4 || index == 6 || index == 8 || index == 10 {
                        output[position] = UInt8(ascii: "-")
                        position += 1
                    }
                    output[position] = Hex.digit(byte >> 4)
                    output[position + 1] = Hex.digit(byte & 15)
                    position += 2
                }
                return position
            }
        }
    }

    /// `count` random bytes.
    package static func bytes(_ count: Int) -> [UInt8] {
        let generator = Generator()
        var bytes: [UInt8] = []
        bytes.reserveCapacity(count + 7)
        while bytes.count < count { withUnsafeBytes(of: generator.next()) { bytes.append(contentsOf: $0) } }
        return Array(bytes.prefix(count))
    }
}
