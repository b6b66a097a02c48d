/// Selects format and encoding by a client's headers (RFC 9110, sections 12.4.2 and 12.5).
package enum ContentNegotiation {
    /// Returns the format for an `Accept` header.
    ///
    /// The most specific range that matches a format gives its quality. The higher quality wins, then the more specific
    /// match, then OpenMetrics if the header names it, else text. A client that accepts neither gets text, because an
    /// unexpected format is easier to understand than an error.
    ///
    /// - Parameter accept: The header, several joined with commas; `nil` if there was none.
    package static func choose(accept: String?) -> ExpositionFormat {
        guard let accept, !trimmed(accept[...]).isEmpty else { return .text }
        let ranges = elements(of: accept).compactMap(MediaRange.init)
        let text = best(for: .text, in: ranges)
        let openMetrics = best(for: .openMetrics, in: ranges)
        if openMetrics.quality == 0 { return .text }
        if openMetrics.quality != text.quality {
            return openMetrics.quality > text.quality ? .openMetrics : .text
        }
        if openMetrics.specificity != text.specificity {
            return openMetrics.specificity > text.specificity ? .openMetrics : .text
        }
        return openMetrics.specificity >= MediaRange.namesType ? .openMetrics : .text
    }

    /// Whether an `Accept-Encoding` header permits gzip.
    ///
    /// - Parameter acceptEncoding: The header; `nil` if there was none, which does not permit it.
    package static func acceptsGzip(_ acceptEncoding: String?) -> Bool {
        guard let acceptEncoding else { return false }
        var gzip: Int?
        var any: Int?
        var identity: Int?
        for element in elements(of: acceptEncoding) {
            let parts = parameters(of: element)
            guard let quality = quality(in: parts.parameters) else { continue }
            switch parts.value {
            case "gzip", "x-gzip": gzip = max(gzip ?? 0, quality)
            case "*": any = quality
            case "identity": identity = quality
            default: break
            }
        }
        let quality = gzip ?? any ?? 0
        return quality > 0 && quality >= identity ?? 0
    }

    private static func best(
        for format: ExpositionFormat,
        in ranges: [MediaRange]
    ) -> (quality: Int, specificity: Int) {
        var best = (quality: 0, specificity: -1)
        for range in ranges {
            guard let specificity = range.specificity(for: format) else { continue }
            if specificity > best.specificity || (specificity == best.specificity && range.quality > best.quality) {
                best = (range.quality, specificity)
            }
        }
        return best
    }

    private struct MediaRange {
        static let namesType = 2
        private static let known = ["version", "q", "charset", "escaping"]

        let type: String
        let version: String?
        /// The quality in thousandths.
        let quality: Int

        /// Parses a range; `nil` if the quality is malformed, or a parameter is one that neither format has.
        init?(_ element: Substring) {
            let parts = parameters(of: element)
            guard let quality = ContentNegotiation.quality(in: parts.parameters) else { return nil }
            self.quality = quality
            type = parts.value
            version = parts.parameters.first { $0.name == "version" }?.value
            guard parts.parameters.allSatisfy({ Self.known.contains($0.name) }) else { return nil }
            let charset = parts.parameters.first { $0.name == "charset" }?.value.lowercased()
            guard charset == nil || charset == "utf-8" || charset == "utf8" else { return nil }
        }

        /// The precision with which the range names a format, from 0 to 3; `nil` if it does not match.
        func specificity(for format: ExpositionFormat) -> Int? {
            let (major, minor, formatVersion) =
                switch format {
                case .text: ("text", "plain", "0.0.4")
                case .openMetrics: ("application", "openmetrics-text", "1.0.0")
                }
            if type == "*/*" { return 0 }
            if type == "\(major)/*" { return 1 }
            guard type == "\(major)/\(minor)" else { return nil }
            guard let version else { return Self.namesType }
            return version == formatVersion ? Self.namesType + 1 : nil
        }
    }

    /// The elements of a comma-separated list. Commas inside quotes do not separate.
    private static func elements(of header: String) -> [Substring] { split(header[...], at: ",") }

    private static func parameters(
        of element: Substring
    ) -> (value: String, parameters: [(name: String, value: String)]) {
        let parts = split(element, at: ";").map(trimmed)
        let parameters = parts.dropFirst().compactMap { part -> (name: String, value: String)? in
            guard let equals = part.firstIndex(of: "=") else { return nil }
            var value = trimmed(part[part.index(after: equals)...])
            if value.count >= 2, value.hasPrefix("\""), value.hasSuffix("\"") { value = value.dropFirst().dropLast() }
            return (trimmed(part[..<equals]).lowercased(), String(value))
        }
        return (parts.first.map { $0.lowercased() } ?? "", parameters)
    }

    /// The `q` parameter in thousandths; 1000 if there is none, `nil` if it is not a qvalue of RFC 9110.
    private static func quality(in parameters: [(name: String, value: String)]) -> Int? {
        guard let text = parameters.first(where: { $0.name == "q" })?.value else { return 1000 }
        let parts = text.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
        // Prometheus sends `.5`, which the grammar does not allow.
        guard let whole = parts.first.flatMap({ $0.isEmpty && parts.count == 2 ? 0 : Int($0) }) else { return nil }
        let fraction = parts.count == 2 ? parts[1] : ""
        guard (0...1).contains(whole), fraction.count <= 3, fraction.utf8.allSatisfy(\.isDigit) else { return nil }
        let thousandths = whole * 1000 + (Int(fraction + String(repeating: "0", count: 3 - fraction.count)) ?? 0)
        return thousandths <= 1000 ? thousandths : nil
    }

    // On bytes, for speed: this runs for every page, and separators are ASCII.
    private static func split(_ text: Substring, at separator: Unicode.Scalar) -> [Substring] {
        let bytes = text.utf8
        var quoted = false
        var parts: [Substring] = []
        var start = bytes.startIndex
        for index in bytes.indices {
            if bytes[index] == UInt8(ascii: "\"") { quoted.toggle() }
            if bytes[index] == UInt8(ascii: separator), !quoted {
                parts.append(text[start..<index])
                start = bytes.index(after: index)
            }
        }
        parts.append(text[start...])
        return parts
    }

    private static func trimmed(_ text: Substring) -> Substring {
        func isSpace(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || (0x09...0x0D).contains(byte) }
        let bytes = text.utf8
        guard let start = bytes.firstIndex(where: { !isSpace($0) }), let end = bytes.lastIndex(where: { !isSpace($0) })
        else { return "" }
        return text[start...end]
    }
}

/// The formats of `/metrics`.
package enum ExpositionFormat: String, Sendable, CaseIterable {
    /// Prometheus text format 0.0.4.
    case text
    /// OpenMetrics 1.0.
    case openMetrics

    /// The `Content-Type` header. Prometheus 3 fails a scrape without it.
    package var contentType: String {
        switch self {
        case .text: "text/plain; version=0.0.4; charset=utf-8"
        case .openMetrics: "application/openmetrics-text; version=1.0.0; charset=utf-8"
        }
    }
}
