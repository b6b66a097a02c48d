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
    }

    private static let did = expression(#"(?=[dD][iI][dD](:)[A-Za-z0-9]+:([A-Za-z0-9._:#/\x{80}-\x{FF}-]+))"#)
    private static let user = expression(##"(?=(:)//([^\x00-\x20\x7F/?#"<>]+)@)"##)
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
    private static let id = expression(
        "(?<![A-Za-z0-9_])(?:[0-9A-HJKMNP-TV-Z]{26}|[0-9]{10}_[A-Za-z0-9]{6}_[a-f0-9]{8})(?![A-Za-z0-9_])"
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
        for match in matches(in: text) where match.sign >= position {
            if let kind = match.kind {
                let start = max(match.start, flushed)
                output += Self.withoutIDs(Self.part(of: text, flushed, start)) + kind.replacement
                flushed = match.end
            }
            position = max(match.end, match.sign)
        }
        output += Self.withoutIDs(Self.part(of: text, flushed, bytes.count))
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
        for groups in Self.groups(Self.user, text) {
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
        // Among matches of one sign, the first in the order above; among tokens, the longest.
        return matches.enumerated().sorted { ($0.element.sign, $0.offset) < ($1.element.sign, $1.offset) }
            .map(\.element)
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

    /// A name without ignored characters; empty if it is too long or does not end in a letter.
    private static func plain(_ name: String) -> String {
        guard name.utf8.count <= 24, name.last?.isLetter == true else { return "" }
        return name.lowercased().filter { $0 != "_" && $0 != "-" }
    }

    private static func withoutIDs(_ text: String) -> String {
        id.stringByReplacingMatches(
            in: text,
            range: NSRange(location: 0, length: text.utf16.count),
            withTemplate: NSRegularExpression.escapedTemplate(for: RedactionKind.id.replacement)
        )
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
