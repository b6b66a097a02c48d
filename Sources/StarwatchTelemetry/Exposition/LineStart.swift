/// The beginning of a sample's line, up to its value.
///
/// Plain memory owned by the series, because reference counting took two thirds of a page's time.
struct LineStart: Sendable {
    private typealias Block = SIMD16<UInt8>

    // `nonisolated(unsafe)` because the bytes are immutable after init. Zeros fill the last block.
    private nonisolated(unsafe) let memory: UnsafeMutableRawPointer
    private let count: Int

    init(_ name: String, _ labels: [(name: String, value: String)]) {
        var text: [UInt8] = []
        text.reserveCapacity(128)
        text.append(sample: name, labels: labels)
        count = text.count
        let size = (count + 15) / 16 * 16
        memory = .allocate(byteCount: size, alignment: 16)
        memory.initializeMemory(as: UInt8.self, repeating: 0, count: size)
        memory.copyMemory(from: text, byteCount: count)
    }

    /// Frees the memory. The owner must call it exactly once.
    func free() { memory.deallocate() }

    var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: memory, count: count) }

    /// How much room ``write(_:to:)`` needs. The longest number takes more than the zeros of the last block.
    var room: Int { count + Decimal.longest + 1 }

    /// Writes the line with its number and a line feed, and returns where it ends.
    @inline(__always)
    func write(_ integer: UInt64, to start: UnsafeMutablePointer<UInt8>) -> UnsafeMutablePointer<UInt8> {
        // Whole blocks, because a call to copy so few bytes takes longer. The number overwrites the zeros.
        let target = UnsafeMutableRawPointer(start)
        var offset = 0
        repeat {
            let block = memory.load(fromByteOffset: offset, as: Block.self)
            target.storeBytes(of: block, toByteOffset: offset, as: Block.self)
            offset &+= 16
        } while offset < count
        let number = start + count
        let end = number + Decimal.write(integer, to: number)
        end.pointee = UInt8(ascii: "\n")
        return end + 1
    }
}

/// A counter's line without an exemplar. The series owns both parts.
struct CounterLine: Sendable {
    /// How many lines are written after one check of the room for them.
    static let linesAtOnce = 32

    let start: LineStart
    let counter: Unmanaged<Counter>
}
