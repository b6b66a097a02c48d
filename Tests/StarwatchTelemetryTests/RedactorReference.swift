import Foundation

@testable import StarwatchTelemetry

/// The redactor's rules as regular expressions, for texts without percent signs and backslashes.
///
/// It reads bytes as Latin 1, so that byte and character offsets are equal.
struct RedactorReference {
    private struct Match {
        /// The byte that triggers the redactor.
        let sign: Int
        let start: Int
        let end: Int
        /// The kind of the replacement; `nil` for a match that is skipped unchanged.
        let kind: RedactionKind?
        /// Whether it ends the words before it: an underscore is part of a word.
        var endsWord = true
        /// Whether it is skipped after a replacement that ends at its sign.
        var needsText = false
    }

    private static let did = expression(#"(?=[dD][iI][dD](:)[A-Za-z0-9]+:([A-Za-z0-9._:#/\x{80}-\x{FF}-]+))"#)
    private static let userInformation = expression(##"(?=(:)//([^\x00-\x20\x7F/?#"<>]+)@)"##)
    private static let token = expression(#"(?=(eyJ[A-Za-z0-9_-]{7,})(\.)([A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*))"#)
    private static let bearer = expression(#"(?=[bB][eE][aA][rR][eE][rR]([ \t])[ \t]*([A-Za-z0-9._~+/=-]+))"#)
    private static let field = expression(#"(?<![A-Za-z0-9_-])(?=([A-Za-z0-9_-]+)" {0,4}(:) *"([^"\n]+))"#)
    private static let header = expression(
        #"(?<![A-Za-z0-9_-])(?=([A-Za-z0-9_-]+) {0,4}(:) *+(?:([A-Za-z]{0,10}) (?=.))?([^\x00-\x20\x7F&"'<>]*))"#
    )
    private static let cookie = expression(
        #"(?<![A-Za-z0-9_-])(?=([A-Za-z0-9_-]+) {0,4}(:) *+([^\x00-\x1F\x7F&"'<>]+))"#
    )
    private static let parameter = expression(
        #"(?<![A-Za-z0-9_-])(?=([A-Za-z0-9_-]+)(=)(?: *"(?![,:\]}])([^"\n]+)|([^\x00-\x20\x7F&"'<>]+)))"#
    )
    private static let webhook = expression("(?=whsec(_)([A-Za-z0-9+/=_-]+))")
    private static let phone = expression(
        #"(?<![A-Za-z0-9_+])(?=(\+)([1-9](?:\)?[ .-]?\(?[0-9]){7,14}(?![A-Za-z0-9_])))"#
    )
    private static let pem = expression(
        #"(?<!-)(?=(-)(-{4,}BEGIN(?:[^"]*?-----END[^"\n-]*-*|[^"]*)))"#
    )
    private static let sign = expression("(@)")
    private static let userRun = expression(#"[^\x00-\x20\x7F"'<>/,\[\]{}@]*\z"#)
    private static let user = expression(#"([^:=&?#;(|]+):[\s\S]"#)
    private static let hostRun = expression(#"^[A-Za-z0-9\[\x{80}-\x{FF}][^\x00-\x20\x7F"'<>/,\[\]{}]*"#)
    private static let localPart = expression(#"[A-Za-z0-9._%+\x{80}-\x{FF}-]+\z"#)
    private static let domain = expression(#"^[A-Za-z0-9.\x{80}-\x{FF}-]*[A-Za-z0-9\x{80}-\x{FF}]"#)
    private static let label = expression(#"\.[A-Za-z\x{80}-\x{FF}]-*[A-Za-z0-9\x{80}-\x{FF}]"#)
    private static let id = expression(
        "(?<![A-Za-z0-9])(?:([0-9A-HJKMNP-TV-Z]{26}|[0-7][0-9A-HJKMNP-TV-Za-hjkmnp-tv-z]{25}"
            + "|[0-9]{10}_[A-Za-z0-9]{6}_[a-f0-9]{8})|((?:0[xX])?[0-9A-Fa-f]{64})"
            + "|(?=[A-Za-z0-9]{26})([A-Za-z0-9]*(?:ZGlkO[g-v]|[GWm2]RpZD[op]|kaWQ6[A-Za-z0-9])[A-Za-z0-9]*))"
            + "(?![A-Za-z0-9])"
    )
    private static let pseudonym = expression("^did:hash:[0-9a-f]{16}$")

    private static let didNames = ["activedid", "accountdid", "issuerdid", "agentdid", "subjectdid", "userdid", "did"]
    private static let tokenNames = [
        "token", "secret", "accesstoken", "refreshtoken", "idtoken", "apikey", "clientsecret", "password", "passwd",
        "pwd", "jwt", "bearer", "authorization", "proxyauthorization", "cookie", "setcookie", "xapikey", "privatekey",
    ]
    private static let parameterNames = [
        "token", "secret", "key", "accesstoken", "refreshtoken", "idtoken", "apikey", "clientsecret", "password",
        "passwd", "pwd", "jwt", "bearer", "auth", "authorization",
    ]

    /// The redacted text.
    func redacted(_ bytes: [UInt8]) -> [UInt8] {
        var text = bytes
        for _ in 0..<8 {
            let next = pass(text)
            if next == text { break }
            text = next
        }
        return text
    }

    private func pass(_ bytes: [UInt8]) -> [UInt8] {
        let text = String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) }))
        var output = ""
        var flushed = 0
        var position = 0
        let blocks = blocks(in: text)
        for match in matches(in: text) where match.sign >= position {
            guard let kind = match.kind else {
                position = max(match.end, match.sign)
                continue
            }
            // Words end before the sign, and are replaced first.
            let wordsEnd = match.endsWord ? match.sign : Self.wordStart(in: text, before: match.sign)
            if let (words, end) = Self.withoutIDs(text, flushed, max(wordsEnd, flushed)) {
                output += words
                flushed = end
            }
            if match.needsText, flushed >= match.sign { continue }
            let start = max(match.start, flushed)
            if let (words, end) = Self.withoutIDs(text, flushed, start) {
                output += words
                flushed = end
            }
            let end = blocks.first { $0.sign >= match.start && $0.sign < match.end }?.end ?? match.end
            output += Self.part(of: text, flushed, start) + kind.replacement
            flushed = max(end, match.end)
            position = max(flushed, match.sign)
        }
        if let (words, end) = Self.withoutIDs(text, flushed, bytes.count) {
            output += words
            flushed = end
        }
        output += Self.part(of: text, flushed, bytes.count)
        return output.unicodeScalars.map { UInt8($0.value) }
    }

    /// All possible matches, in the redactor's order.
    private func matches(in text: String) -> [Match] {
        var matches: [Match] = []
        for groups in Self.groups(Self.did, text) {
            var end = groups[2].upperBound
            while end > groups[2].lowerBound + 1, ".:".contains(Self.part(of: text, end - 1, end)) { end -= 1 }
            let start = groups[1].lowerBound - 3
            let isPseudonym = Self.isPseudonym("did" + Self.part(of: text, start + 3, end))
            matches.append(Match(sign: groups[1].lowerBound, start: start, end: end, kind: isPseudonym ? nil : .did))
        }
        for groups in Self.groups(Self.userInformation, text) {
            if Self.part(of: text, groups[2]) == RedactionKind.token.replacement { continue }
            matches.append(match(groups[1], groups[2], .token))
        }
        for groups in Self.groups(Self.field, text) {
            guard let kind = Self.kind(of: Self.part(of: text, groups[1])) else { continue }
            let isKept = kind == .did && Self.isPseudonym(Self.part(of: text, groups[3]))
            matches.append(match(groups[2], groups[3], isKept ? nil : unlessMade(kind, groups[3], text)))
        }
        for groups in Self.groups(Self.header, text) {
            let name = Self.plain(Self.part(of: text, groups[1]))
            guard ["authorization", "proxyauthorization", "xapikey"].contains(name) else { continue }
            let scheme = groups[3].isEmpty ? nil : Self.part(of: text, groups[3])
            if scheme != nil, groups[4].isEmpty { continue }
            guard !groups[4].isEmpty else { continue }
            matches.append(match(groups[2], groups[4], unlessMade(.token, groups[4], text)))
        }
        for groups in Self.groups(Self.cookie, text) {
            guard ["cookie", "setcookie"].contains(Self.plain(Self.part(of: text, groups[1]))) else { continue }
            matches.append(match(groups[2], groups[3], unlessMade(.token, groups[3], text)))
        }
        for groups in Self.groups(Self.parameter, text) {
            guard Self.parameterNames.contains(Self.plain(Self.part(of: text, groups[1]))) else { continue }
            let value = groups[3].isEmpty ? groups[4] : groups[3]
            matches.append(match(groups[2], value, unlessMade(.token, value, text)))
        }
        for groups in Self.groups(Self.bearer, text) {
            matches.append(match(groups[1], groups[2], .token))
        }
        for groups in Self.groups(Self.token, text) {
            let whole = groups[1].lowerBound..<groups[3].upperBound
            matches.append(match(groups[2], whole, .token))
        }
        for groups in Self.groups(Self.webhook, text) {
            var match = match(groups[1], groups[1].lowerBound - 5..<groups[2].upperBound, .token)
            match.endsWord = false
            matches.append(match)
        }
        for groups in Self.groups(Self.phone, text) {
            matches.append(match(groups[1], groups[1].lowerBound..<groups[2].upperBound, .id))
        }
        matches += blocks(in: text)
        matches += Self.groups(Self.sign, text).compactMap { address(at: $0[1].lowerBound, in: text) }
        // Among matches of one sign, the first in the order above; among tokens, the longest.
        return matches.enumerated().sorted { ($0.element.sign, $0.offset) < ($1.element.sign, $1.offset) }
            .map(\.element)
    }

    private func blocks(in text: String) -> [Match] {
        Self.groups(Self.pem, text).map { groups in
            var end = groups[2].upperBound
            if end == text.utf16.count { while Self.part(of: text, end - 1, end) == "\n" { end -= 1 } }
            return match(groups[1], groups[1].lowerBound..<end, .token)
        }
    }

    /// The user information before an at sign, or the e-mail address around it.
    private func address(at sign: Int, in text: String) -> Match? {
        let before = Self.part(of: text, 0, sign)
        let after = Self.part(of: text, sign + 1, text.utf16.count)
        func match(_ start: Int, _ end: Int, _ kind: RedactionKind) -> Match {
            Match(sign: sign, start: start, end: end, kind: kind, needsText: true)
        }
        if let host = Self.groups(Self.hostRun, after).first?[0], let run = Self.groups(Self.userRun, before).first?[0],
            let user = Self.groups(Self.user, Self.part(of: before, run)).first?[1],
            Self.part(of: before, run.lowerBound + user.lowerBound, run.lowerBound + user.upperBound).lowercased()
                != "mailto"
        {
            let lastSign = (Self.part(of: after, host) as NSString).range(of: "@", options: .backwards)
            let end = lastSign.location == NSNotFound ? sign : sign + 1 + lastSign.location
            return match(run.lowerBound + user.lowerBound, end, .token)
        }
        guard let local = Self.groups(Self.localPart, before).first?[0],
            let domain = Self.groups(Self.domain, after).first?[0],
            !Self.groups(Self.label, Self.part(of: after, domain)).isEmpty
        else { return nil }
        return match(local.lowerBound, sign + 1 + domain.upperBound, .id)
    }

    private static func wordStart(in text: String, before end: Int) -> Int {
        var start = end
        while start > 0, part(of: text, start - 1, start).utf8.allSatisfy({ $0.isLetter || $0.isDigit || $0 == 0x5F }) {
            start -= 1
        }
        return start
    }

    private func match(_ sign: Range<Int>, _ range: Range<Int>, _ kind: RedactionKind?) -> Match {
        Match(sign: sign.lowerBound, start: range.lowerBound, end: range.upperBound, kind: kind)
    }

    private func unlessMade(_ kind: RedactionKind, _ range: Range<Int>, _ text: String) -> RedactionKind? {
        Self.part(of: text, range) == kind.replacement ? nil : kind
    }

    // MARK: - Texts

    private static func kind(of name: String) -> RedactionKind? {
        let name = plain(name)
        return didNames.contains(name) ? .did : tokenNames.contains(name) ? .token : nil
    }

    /// A name without ignored characters; empty if it is too long, or ends neither in a letter nor in two ignored
    /// characters.
    private static func plain(_ name: String) -> String {
        let endsName = name.last?.isLetter == true || name.count > 1 && name.suffix(2).allSatisfy { "_-".contains($0) }
        guard name.utf8.count <= 24, endsName else { return "" }
        return name.lowercased().filter { $0 != "_" && $0 != "-" }
    }

    /// A range of a text without identifiers, to the end of the last of them; `nil` if there is none.
    private static func withoutIDs(_ text: String, _ start: Int, _ end: Int) -> (text: String, end: Int)? {
        var output = ""
        var flushed = start
        for groups in groups(id, part(of: text, start, end)) {
            guard let index = (1...3).first(where: { !groups[$0].isEmpty }) else { continue }
            output += part(of: text, flushed, start + groups[0].lowerBound)
            output += ([.id, .token, .did] as [RedactionKind])[index - 1].replacement
            flushed = start + groups[0].upperBound
        }
        return flushed > start ? (output, flushed) : nil
    }

    private static func isPseudonym(_ text: String) -> Bool {
        pseudonym.firstMatch(in: text, range: NSRange(location: 0, length: text.utf16.count)) != nil
    }

    private static func part(of text: String, _ start: Int, _ end: Int) -> String {
        (text as NSString).substring(with: NSRange(location: start, length: end - start))
    }

    private static func part(of text: String, _ range: Range<Int>) -> String {
        part(of: text, range.lowerBound, range.upperBound)
    }

    private static func groups(_ expression: NSRegularExpression, _ text: String) -> [[Range<Int>]] {
        expression.matches(in: text, range: NSRange(location: 0, length: text.utf16.count)).map { result in
            (0..<result.numberOfRanges).map { Range(result.range(at: $0)) ?? 0..<0 }
        }
    }

    private static func expression(_ pattern: String) -> NSRegularExpression {
        do { return try NSRegularExpression(pattern: pattern) } catch { preconditionFailure("\(pattern): \(error)") }
    }
}
