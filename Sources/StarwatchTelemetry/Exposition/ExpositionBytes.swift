/// Output primitives of both formats.
extension [UInt8] {
    mutating func append(text: String) { append(contentsOf: text.utf8) }

    /// Appends the beginning of a line.
    mutating func append(start: LineStart) { append(contentsOf: start.bytes) }

    /// Appends a sample's value: whole numbers without a fraction, others as the shortest text that parses to the same
    /// value.
    mutating func append(value: Double) {
        if value.magnitude < 9e15, value == value.rounded(.towardZero) {
            if value < 0 { append(UInt8(ascii: "-")) }
            append(integer: UInt64(value.magnitude))
        } else if value.isNaN {
            append(text: "NaN")
        } else if value.isInfinite {
            append(text: value < 0 ? "-Inf" : "+Inf")
        } else {
            append(text: value.description)
        }
    }

    mutating func append(integer: UInt64) {
        append(addingCapacity: Decimal.longest) { room in
            room.withUnsafeMutableBufferPointer { bytes, count in
                count += Decimal.write(integer, to: bytes.baseAddress! + count)
            }
        }
    }

    /// Appends the beginning of a line, a number and a line feed.
    mutating func append(line start: LineStart, integer: UInt64) {
        append(addingCapacity: start.room) { room in
            room.withUnsafeMutableBufferPointer { bytes, count in
                count = start.write(integer, to: bytes.baseAddress! + count) - bytes.baseAddress!
            }
        }
    }

    /// Appends the lines of counters.
    ///
    /// Most lines of a page are such. One check of the room for many lines, no calls and no reference counting make a page of
    /// 1,000 of them take 0.53 of the time (`TelemetryBenchmark render`, 2 cores AMD EPYC).
    mutating func append(lines: [CounterLine]) {
        var rest = lines[...]
        while !rest.isEmpty {
            let some = rest.prefix(CounterLine.linesAtOnce)
            rest = rest.dropFirst(some.count)
            append(addingCapacity: some.reduce(0) { $0 + $1.start.room }) { room in
                room.withUnsafeMutableBufferPointer { bytes, count in
                    var end = bytes.baseAddress! + count
                    for line in some {
                        end = line.start.write(line.counter._withUnsafeGuaranteedRef(\.value), to: end)
                    }
                    count = end - bytes.baseAddress!
                }
            }
        }
    }

    /// Appends Unix milliseconds as seconds with three decimals.
    mutating func append(milliseconds: Int64) {
        if milliseconds < 0 { append(UInt8(ascii: "-")) }
        let magnitude = milliseconds.magnitude
        append(integer: magnitude / 1000)
        append(UInt8(ascii: "."))
        for divisor: UInt64 in [100, 10, 1] { append(0x30 + UInt8(magnitude / divisor % 10)) }
    }

    /// Appends a label's value or a help text. Both formats escape `\` and line feed.
    ///
    /// - Parameter quotes: Whether to escape `"`: in label values, and in OpenMetrics' help texts.
    mutating func append(escaped text: String, quotes: Bool) {
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\\"): append(text: #"\\"#)
            case UInt8(ascii: "\"") where quotes: append(text: #"\""#)
            case UInt8(ascii: "\n"): append(text: #"\n"#)
            default: append(byte)
            }
        }
    }

    /// Appends `name{label="value",…} `, with the space before the value.
    mutating func append(sample name: String, labels: [(name: String, value: String)]) {
        append(text: name)
        if !labels.isEmpty {
            append(UInt8(ascii: "{"))
            for (index, label) in labels.enumerated() {
                if index > 0 { append(UInt8(ascii: ",")) }
                append(text: label.name)
                append(text: "=\"")
                append(escaped: label.value, quotes: true)
                append(UInt8(ascii: "\""))
            }
            append(UInt8(ascii: "}"))
        }
        append(UInt8(ascii: " "))
    }

    /// Appends ` # {run_id="…",request_id="…"} value timestamp`.
    mutating func append(exemplar entry: ExemplarSlots.Entry) {
        append(text: " # {run_id=\"")
        append(text: entry.exemplar.runID)
        if let id = entry.exemplar.requestID {
            append(text: "\",request_id=\"")
            append(text: id)
        }
        append(text: "\"} ")
        append(value: entry.value)
        append(UInt8(ascii: " "))
        append(milliseconds: entry.exemplar.timestampMilliseconds)
    }
}

/// Whole numbers in decimal digits.
enum Decimal {
    /// The largest number of digits.
    static let longest = 20

    /// Writes the digits, two at a time, and returns their number. `start` needs room for ``longest``.
    @inline(__always)
    static func write(_ integer: UInt64, to start: UnsafeMutablePointer<UInt8>) -> Int {
        var (length, bound) = (2, 100 as UInt64)
        while length < longest, integer >= bound { (length, bound) = (length + 2, bound &* 100) }
        if integer < (length == longest ? 10_000_000_000_000_000_000 : bound / 10) { length -= 1 }
        var rest = integer
        var end = start + length
        while rest >= 10 {
            end -= 2
            (end[0], end[1]) = (pairs.utf8Start[Int(rest % 100) * 2], pairs.utf8Start[Int(rest % 100) * 2 + 1])
            rest /= 100
        }
        if end > start { start[0] = 0x30 + UInt8(truncatingIfNeeded: rest) }
        return length
    }

    private static let pairs: StaticString = """
        00010203040506070809101112131415161718192021222324252627282930313233343536373839\
        40414243444546474849505152535455565758596061626364656667686970717273747576777879\
        8081828384858687888990919293949596979899
        """
}

/// The canonical form of OpenMetrics for a number in a label, such as `le`.
extension Double {
    /// Formats a number with the shortest digits, and with an exponent below -4 and from 6 on: `1.0`, `0.005`, `1e+06`,
    /// `+Inf`.
    var canonicalText: String {
        if isNaN { return "NaN" }
        if isInfinite { return self < 0 ? "-Inf" : "+Inf" }
        if self == 0 { return "0.0" }
        let (digits, exponent) = magnitude.shortestDigits
        let sign = self < 0 ? "-" : ""
        if exponent < -4 || exponent >= 6 {
            let rest = digits.dropFirst()
            let power = exponent.magnitude < 10 ? "0\(exponent.magnitude)" : "\(exponent.magnitude)"
            return sign + digits.prefix(1) + (rest.isEmpty ? "" : "." + rest) + "e" + (exponent < 0 ? "-" : "+") + power
        }
        if exponent < 0 { return sign + "0." + String(repeating: "0", count: -exponent - 1) + digits }
        let whole = digits.prefix(exponent + 1)
        let fraction = digits.dropFirst(exponent + 1)
        let padding = String(repeating: "0", count: exponent + 1 - whole.count)
        return sign + whole + padding + "." + (fraction.isEmpty ? "0" : fraction)
    }

    /// The shortest digits that parse to the same value, and the power of ten of the first digit.
    private var shortestDigits: (digits: String, exponent: Int) {
        let parts = description.split(separator: "e")
        var exponent = parts.count == 2 ? Int(parts[1])! : 0
        let mantissa = parts[0].split(separator: ".", omittingEmptySubsequences: false)
        var digits = String(mantissa[0]) + (mantissa.count == 2 ? String(mantissa[1]) : "")
        exponent += mantissa[0].count - 1
        while digits.hasPrefix("0"), digits.count > 1 {
            digits.removeFirst()
            exponent -= 1
        }
        while digits.hasSuffix("0"), digits.count > 1 { digits.removeLast() }
        return (digits, exponent)
    }
}

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
