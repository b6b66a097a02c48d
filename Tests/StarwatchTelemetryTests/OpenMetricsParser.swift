/// A strict parser of OpenMetrics 1.0, written from the specification. Any consumer accepts the pages it accepts.
struct OpenMetricsParser {
    struct Failure: Error, CustomStringConvertible {
        let line: Int
        let reason: String
        var description: String { "line \(line): \(reason)" }
    }

    struct Sample: Equatable {
        let name: String
        let labels: [String: String]
        let value: String
        let exemplar: String?
    }

    struct Family: Equatable {
        let name: String
        var type = "unknown"
        var unit: String?
        var help: String?
        var samples: [Sample] = []
        fileprivate var step = 0
    }

    private static let suffixes: [String: [String]] = [
        "counter": ["_total"], "gauge": [""], "info": ["_info"], "histogram": ["_bucket", "_sum", "_count"],
    ]

    private var families: [Family] = []
    private var names: Set<String> = []
    private var series: Set<String> = []
    private var line = 0

    static func parse(_ page: [UInt8]) throws -> [Family] {
        var parser = Self()
        guard let text = String(validating: page, as: UTF8.self) else { throw Failure(line: 0, reason: "not UTF-8") }
        return try parser.read(text)
    }

    private mutating func read(_ text: String) throws -> [Family] {
        guard text.hasSuffix("# EOF\n") else { throw fail("does not end in # EOF") }
        let lines = text.utf8.split(separator: 0x0A, omittingEmptySubsequences: false).dropLast(2)
        for bytes in lines {
            line += 1
            let content = String(bytes)!
            if content.hasPrefix("#") { try readMetadata(content) } else { try readSample(content) }
        }
        for family in families { try check(family) }
        return families
    }

    private func fail(_ reason: String) -> Failure { Failure(line: line, reason: reason) }

    private mutating func readMetadata(_ content: String) throws {
        // On bytes: a combining mark would form one character with the space before it.
        let parts = content.utf8.split(separator: 0x20, maxSplits: 3, omittingEmptySubsequences: false).map {
            String(decoding: $0, as: UTF8.self)
        }
        guard parts.count == 4, let step = ["TYPE": 1, "UNIT": 2, "HELP": 3][parts[1]] else {
            throw fail("a comment that is no metadata: \(content)")
        }
        let name = parts[2]
        if families.last?.name != name {
            guard names.insert(name).inserted else { throw fail("\(name) stands in two places") }
            families.append(Family(name: name))
        }
        var family = families.removeLast()
        guard family.samples.isEmpty, family.step < step else { throw fail("metadata of \(name) out of order") }
        family.step = step
        switch step {
        case 1: family.type = parts[3]
        case 2:
            guard name.hasSuffix("_" + parts[3]) else { throw fail("unit \(parts[3]) is no suffix of \(name)") }
            family.unit = parts[3]
        default: family.help = try unescape(parts[3])
        }
        families.append(family)
    }

    private mutating func readSample(_ content: String) throws {
        guard let family = families.last, let allowed = Self.suffixes[family.type] else { throw fail("no family") }
        var rest = Array(content.utf8)[...]
        let name = String(decoding: rest.prefix { $0 != 0x7B && $0 != 0x20 }, as: UTF8.self)
        guard allowed.contains(where: { family.name + $0 == name }) else { throw fail("\(name) in \(family.name)") }
        rest = rest.dropFirst(name.utf8.count)
        let labels = try readLabels(&rest)
        guard rest.first == 0x20 else { throw fail("no space before the value") }
        let parts = String(decoding: rest.dropFirst(), as: UTF8.self).components(separatedBy: " # ")
        guard !parts[0].contains(" "), isNumber(parts[0]) else { throw fail("value \(parts[0])") }
        var exemplar: String?
        if parts.count > 1 {
            guard name.hasSuffix("_total") || name.hasSuffix("_bucket") else { throw fail("an exemplar on \(name)") }
            exemplar = parts[1]
            try readExemplar(parts[1])
        }
        let key = name + labels.sorted { $0.key < $1.key }.map { "\u{1}\($0.key)\u{2}\($0.value)" }.joined()
        guard series.insert(key).inserted else { throw fail("\(content) twice") }
        families[families.count - 1].samples.append(
            Sample(name: name, labels: labels, value: parts[0], exemplar: exemplar)
        )
    }

    private func readExemplar(_ text: String) throws {
        var rest = Array(text.utf8)[...]
        let labels = try readLabels(&rest)
        guard labels.reduce(0, { $0 + $1.key.count + $1.value.count }) <= 128 else { throw fail("exemplar too long") }
        let numbers = String(decoding: rest, as: UTF8.self).split(separator: " ", omittingEmptySubsequences: false)
        guard (2...3).contains(numbers.count), numbers.dropFirst().allSatisfy({ isNumber(String($0)) }) else {
            throw fail("exemplar \(text)")
        }
    }

    private func readLabels(_ rest: inout ArraySlice<UInt8>) throws -> [String: String] {
        guard rest.first == 0x7B else { return [:] }
        rest = rest.dropFirst()
        var labels: [String: String] = [:]
        while rest.first != 0x7D {
            let name = String(decoding: rest.prefix { $0 != 0x3D }, as: UTF8.self)
            rest = rest.dropFirst(name.utf8.count + 1)
            guard rest.popFirst() == 0x22 else { throw fail("a label without quotes") }
            var value: [UInt8] = []
            while let byte = rest.first, byte != 0x22 {
                value.append(byte)
                rest = rest.dropFirst()
                if byte == 0x5C, let escaped = rest.popFirst() { value.append(escaped) }
            }
            guard rest.popFirst() == 0x22 else { throw fail("a label without an end") }
            guard name.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_") }), !name.isEmpty else {
                throw fail("label name \(name)")
            }
            guard labels.updateValue(try unescape(String(decoding: value, as: UTF8.self)), forKey: name) == nil else {
                throw fail("label \(name) twice")
            }
            if rest.first == 0x2C { rest = rest.dropFirst() } else if rest.first != 0x7D { throw fail("no comma") }
        }
        rest = rest.dropFirst()
        return labels
    }

    private func unescape(_ text: String) throws -> String {
        var result = ""
        var escaping = false
        for scalar in text.unicodeScalars {
            if escaping {
                let escapes: [Unicode.Scalar: Unicode.Scalar] = ["\\": "\\", "\"": "\"", "n": "\n"]
                guard let plain = escapes[scalar] else { throw fail("escape \\\(scalar)") }
                result.unicodeScalars.append(plain)
                escaping = false
            } else if scalar == "\\" {
                escaping = true
            } else if scalar == "\"" {
                throw fail("a bare quote")
            } else {
                result.unicodeScalars.append(scalar)
            }
        }
        guard !escaping else { throw fail("a bare backslash") }
        return result
    }

    private func isNumber(_ text: String) -> Bool {
        ["+Inf", "-Inf", "NaN"].contains(text) || (Double(text) != nil && !text.lowercased().contains("x"))
    }

    private func check(_ family: Family) throws {
        guard family.step == 3, !family.samples.isEmpty else { throw fail("\(family.name) is incomplete") }
        guard family.type == "histogram" else { return }
        var last: (group: [String: String], bound: Double, count: Int)?
        for sample in family.samples {
            var group = sample.labels
            let bound = group.removeValue(forKey: "le")
            if sample.name.hasSuffix("_bucket") {
                guard let bound, let value = Int(sample.value) else { throw fail("bucket of \(family.name)") }
                guard bound == "+Inf" || bound.contains(".") || bound.contains("e") else { throw fail("le \(bound)") }
                let number = bound == "+Inf" ? Double.infinity : Double(bound) ?? .nan
                if let last, last.group == group, !(number > last.bound && value >= last.count) {
                    throw fail("buckets of \(family.name) do not rise")
                }
                last = (group, number, value)
            } else if sample.name.hasSuffix("_count") {
                guard let last, last.group == group, last.bound == .infinity, sample.value == "\(last.count)" else {
                    throw fail("count of \(family.name) is not that of +Inf")
                }
            }
        }
    }
}

extension String {
    fileprivate func components(separatedBy separator: String) -> [String] {
        guard let range = self.firstRange(of: separator) else { return [self] }
        return [String(self[..<range.lowerBound]), String(self[range.upperBound...])]
    }
}
