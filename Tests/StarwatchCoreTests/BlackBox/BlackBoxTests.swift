import StarwatchCore
import Testing

/// A black box in memory.
private struct Box {
    var bytes = BlackBox.head + [UInt8](repeating: 0, count: BlackBox.fileBytes - BlackBox.headBytes)
    var lines = BlackBoxRing(.lines)
    var marks = BlackBoxRing(.marks)
    private(set) var last = 0

    mutating func line(_ text: String) {
        write(lines.place(.line, at: Timestamp(milliseconds: Int64(lines.sequence)), text))
    }

    mutating func mark(_ kind: BlackBoxRecord.Kind, _ text: String = "") {
        write(marks.place(kind, at: Timestamp(milliseconds: Int64(marks.sequence)), text))
    }

    private mutating func write(_ record: (offset: Int, bytes: [UInt8])) {
        bytes.replaceSubrange(record.offset..<record.offset + record.bytes.count, with: record.bytes)
        last = record.offset
    }

    var texts: [String] { get throws { try BlackBox.read(bytes).lines.map(\.text) } }
}

@Suite("The black box")
struct BlackBoxTests {
    @Test("reads its records in the order in which they were written")
    func order() throws {
        var box = Box()
        let texts = (0..<100).map { "line \($0) " + String(repeating: "é", count: $0 * 3) }
        for text in texts { box.line(text) }
        #expect(try box.texts == texts)
        #expect(try BlackBox.read(box.bytes).damaged == 0)
    }

    @Test("keeps the newest lines when it is full, in their order, and every mark")
    func wrap() throws {
        var box = Box()
        box.mark(.start, RunStart(boot: "a").text)
        for number in 0..<5000 { box.line("line \(number) " + String(repeating: "x", count: number % 200)) }
        let texts = try box.texts
        #expect(texts.count > 700)
        let numbers = try texts.map { try #require(Int($0.split(separator: " ")[1])) }
        #expect(numbers == Array(5000 - numbers.count..<5000))
        let content = try BlackBox.read(box.bytes)
        #expect(content.damaged == 0)
        #expect(content.marks.count == 1)
    }

    @Test("keeps no line that is older than one it has lost, whatever their lengths", arguments: 0..<20)
    func laps(_ step: Int) throws {
        var box = Box()
        let count = 1300 + step * 30
        for number in 0..<count {
            let length = [100, 200, 300, 1500][number * number * (step + 1) % 7 % 4]
            box.line("\(number) " + String(repeating: "x", count: length))
        }
        let numbers = try box.texts.map { try #require(Int($0.split(separator: " ")[0])) }
        #expect(numbers == Array(count - numbers.count..<count))
    }

    @Test("loses a torn record, and no other", arguments: [3, 8, 31, 40, 63, 64, 120])
    func torn(_ written: Int) throws {
        var box = Box()
        for number in 0..<3 { box.line("line \(number)") }
        let before = box.bytes
        box.line("torn " + String(repeating: "y", count: 200))
        // The kernel had written only the first bytes.
        let end = box.last + written
        box.bytes.replaceSubrange(end..., with: before[end...])
        let content = try BlackBox.read(box.bytes)
        #expect(content.lines.map(\.text) == ["line 0", "line 1", "line 2"])
        #expect(content.damaged == (written < 3 ? 0 : 1))
    }

    @Test("loses a record with a wrong byte, and no other")
    func damage() throws {
        var box = Box()
        for number in 0..<3 { box.line("line \(number)") }
        let place = box.last - BlackBoxRecord.slotBytes
        for index in 3..<38 where index != 7 && !(28..<32).contains(index) {
            var bytes = box.bytes
            bytes[place + index] ^= 0x10
            let content = try BlackBox.read(bytes)
            #expect(content.lines.map(\.text) == ["line 0", "line 2"], "byte \(index)")
            #expect(content.damaged == 1)
        }
    }

    @Test("continues after the newest record that it finds")
    func resume() throws {
        var box = Box()
        for number in 0..<2500 { box.line("line \(number)" + String(repeating: "z", count: number % 90)) }
        box.lines = try #require(BlackBox.read(box.bytes).rings[.lines])
        box.line("after the restart")
        let texts = try box.texts
        #expect(texts.last == "after the restart")
        #expect(texts.dropLast().last?.hasPrefix("line 2499") == true)
    }

    @Test("takes no text for a record, whatever it contains")
    func forged() throws {
        var box = Box()
        let inner = String(
            decoding: BlackBoxRecord(.line, sequence: 9, at: Timestamp(milliseconds: 1), "x").frame,
            as: UTF8.self
        )
        box.line(String(repeating: " ", count: 32) + inner)
        #expect(try BlackBox.read(box.bytes).lines.count == 1)
    }

    @Test("cuts a text that is too long between two characters")
    func long() throws {
        var box = Box()
        box.line("a" + String(repeating: "é", count: 5000))
        let text = try #require(try box.texts.first)
        #expect(text == "a" + String(repeating: "é", count: 2047))
    }

    @Test("of another version is rejected with its version, a foreign file as foreign")
    func versions() {
        var box = Box()
        box.bytes.replaceSubrange(20..<22, with: "27".utf8)
        #expect(throws: BlackBoxError.version(27)) { try BlackBox.read(box.bytes) }
        #expect(throws: BlackBoxError.foreign) { try BlackBox.read([]) }
        #expect(throws: BlackBoxError.foreign) { try BlackBox.read(Array("SQLite format 3".utf8)) }
    }

    @Test("that was cut is read as far as it goes")
    func cut() throws {
        var box = Box()
        for number in 0..<100 { box.line("line \(number)") }
        let content = try BlackBox.read(Array(box.bytes.prefix(65_536 + 64 * 10 + 20)))
        #expect(content.lines.count == 10)
    }

    @Test("reads no random bytes as a record")
    func noise() throws {
        var generator = SystemRandomNumberGenerator()
        let noise = (0..<BlackBox.fileBytes - BlackBox.headBytes).map { _ in
            UInt8.random(in: 0...255, using: &generator)
        }
        #expect(try BlackBox.read(BlackBox.head + noise).lines.isEmpty)
    }
}
