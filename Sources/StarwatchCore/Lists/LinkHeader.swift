/// The header `Link` (RFC 8288).
enum LinkHeader {
    /// The target of the first link with the relation `next`; `nil` if there is none.
    static func next(in value: String) -> String? {
        var rest = Substring(value)
        while let start = rest.firstIndex(of: "<"), let end = rest[start...].firstIndex(of: ">") {
            let target = rest[rest.index(after: start)..<end]
            let (parameters, following) = parameters(in: rest[rest.index(after: end)...])
            if isNext(parameters) { return String(target) }
            rest = following
        }
        return nil
    }

    /// The parameters of a link, to the comma that ends them outside of quotes.
    private static func parameters(in text: Substring) -> (parameters: [Substring], rest: Substring) {
        var parameters: [Substring] = []
        var (start, isQuoted, isEscaped) = (text.startIndex, false, false)
        for index in text.indices {
            switch text[index] {
            case _ where isEscaped: isEscaped = false
            case "\\" where isQuoted: isEscaped = true
            case "\"": isQuoted.toggle()
            case ";" where !isQuoted, "," where !isQuoted:
                parameters.append(text[start..<index])
                start = text.index(after: index)
                if text[index] == "," { return (parameters, text[start...]) }
            default: continue
            }
        }
        return (parameters + [text[start...]], "")
    }

    private static func isNext(_ parameters: [Substring]) -> Bool {
        for parameter in parameters {
            let parts = parameter.split(separator: "=", maxSplits: 1).map {
                $0.filter { !" \t\"".contains($0) || $0 == " " }
            }
            guard parts.count == 2, parts[0].filter({ $0 != " " }).lowercased() == "rel" else { continue }
            return parts[1].split(separator: " ").contains { $0.lowercased() == "next" }
        }
        return false
    }
}
