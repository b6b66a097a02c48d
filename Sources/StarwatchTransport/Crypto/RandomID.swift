/// Random identifiers from the system's generator.
package enum RandomID {
    /// The source of random words, so that a simulation is repeatable; `nil` for the system's generator.
    @TaskLocal package static var words: Words?

    /// A source of random words. A structure, because Swift 6.3 crashes in optimised builds if a task-local value is a
    /// function.
    package struct Words: Sendable {
        let next: @Sendable () -> UInt64

        package init(next: @escaping @Sendable () -> UInt64) {
            self.next = next
        }
    }

    private struct Generator: RandomNumberGenerator {
        private let words = RandomID.words
        private var system = SystemRandomNumberGenerator()

        mutating func next() -> UInt64 { words?.next() ?? system.next() }
    }

    /// A version 4 UUID in lower case.
    package static func uuid() -> String {
        var generator = Generator()
        return uuid(using: &generator)
    }

    /// A version 4 UUID in lower case from `generator`.
    package static func uuid(using generator: inout some RandomNumberGenerator) -> String {
        let high = generator.next() & ~0xf000 | 0x4000
        let low = generator.next() & ~(0b11 << 62) | 0b10 << 62
        var output: [UInt8] = []
        output.reserveCapacity(36)
        for index in 0..<32 {
            let word = index < 16 ? high : low
            let digit = UInt8(word >> UInt64(60 - index % 16 * 4) & 15)
            if index == 8 || index == 12 || index == 16 || index == 20 { output.append(UInt8(ascii: "-")) }
            output.append(digit < 10 ? 48 + digit : 87 + digit)
        }
        return String(decoding: output, as: UTF8.self)
    }

    /// `count` random bytes.
    package static func bytes(_ count: Int) -> [UInt8] {
        // One word at a time, because each call to the generator is a system call.
        var generator = Generator()
        var bytes: [UInt8] = []
        bytes.reserveCapacity(count + 7)
        while bytes.count < count { withUnsafeBytes(of: generator.next()) { bytes.append(contentsOf: $0) } }
        return Array(bytes.prefix(count))
    }
}
