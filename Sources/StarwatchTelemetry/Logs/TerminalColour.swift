/// Colours lines in the text format.
///
/// A line is coloured after redaction: the letters of an escape sequence next to a secret would hide its beginning.
package enum TerminalColour {
    /// Whether to use colour: on a terminal that supports it, unless `NO_COLOR` has a value (no-color.org).
    package static func isWanted(isTerminal: Bool, environment: [String: String]) -> Bool {
        guard isTerminal, let kind = environment["TERM"], !kind.isEmpty, kind != "dumb" else { return false }
        return environment["NO_COLOR", default: ""].isEmpty
    }

    /// Colours a line: time and field names are dim, the event is bold, the level has a colour.
    static func painted(_ line: [UInt8], _ severity: LogSeverity) -> [UInt8] {
        guard line.count > LogEntry.eventColumn else { return line }
        var painted: [UInt8] = []
        painted.reserveCapacity(line.count + 160)
        let afterEvent = wordEnd(in: line, from: LogEntry.eventColumn)
        painted.append(line[..<(LogEntry.levelColumn - 1)], in: dim)
        painted.append(line[LogEntry.levelColumn - 1])
        painted.append(line[LogEntry.levelColumn..<LogEntry.eventColumn], in: colour(of: severity))
        painted.append(line[LogEntry.eventColumn..<afterEvent], in: bold)
        var position = afterEvent
        while position < line.count {
            let start = position
            while position < line.count, line[position] == UInt8(ascii: " ") { position += 1 }
            painted += line[start..<position]
            let end = wordEnd(in: line, from: position)
            let word = line[position..<end]
            if let equals = word.firstIndex(of: UInt8(ascii: "=")) {
                painted.append(word[...equals], in: dim)
                painted += word[(equals + 1)...]
            } else {
                painted += word
            }
            position = end
        }
        return painted
    }

    private static let dim = "2"
    private static let bold = "1"

    private static func colour(of severity: LogSeverity) -> String {
        switch severity {
        case .debug: dim
        case .info: "32"
        case .warn: "33"
        case .error: "1;31"
        }
    }

    /// The end of the word that begins at a position: a space outside of quotes, or a line feed.
    private static func wordEnd(in line: [UInt8], from start: Int) -> Int {
        var isQuoted = false
        var position = start
        while position < line.count {
            switch line[position] {
            case UInt8(ascii: "\\") where isQuoted: position += 1
            case UInt8(ascii: "\""): isQuoted.toggle()
            case UInt8(ascii: " ") where !isQuoted: return position
            case 0x0A: return max(position, start + 1)
            default: break
            }
            position += 1
        }
        return line.count
    }
}

extension [UInt8] {
    fileprivate mutating func append(_ bytes: ArraySlice<UInt8>, in style: String) {
        append(text: "\u{1B}[\(style)m")
        self += bytes
        append(text: "\u{1B}[0m")
    }
}
