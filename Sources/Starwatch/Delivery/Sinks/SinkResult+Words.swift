import Foundation
import StarwatchCore
import StarwatchTelemetry

extension SinkResult {
    /// The greatest length of ``words(hiding:)``, in Unicode scalars.
    static let longestWords = 200

    /// The length of the shortest secret, in bytes. A shorter text protects nothing, and is a part of many words.
    private static let shortestSecret = 6

    /// The beginning of the service's answer as one line, without personal data and secrets, for the person who tests a sink.
    /// `nil` if it says nothing.
    ///
    /// The whole answer is redacted before it is cut, because half a secret has another form.
    ///
    /// - Parameter secrets: What has no form of its own, such as a token of the service and the parts of a URL.
    func words(hiding secrets: [String]) -> String? {
        let hidden = Set(secrets.flatMap { [$0, PercentEncoding.encode($0)] }).filter {
            $0.utf8.count >= Self.shortestSecret
        }
        var bytes = said
        // A longer one can contain a shorter one.
        for secret in hidden.sorted(by: { ($0.utf8.count, $0) > ($1.utf8.count, $1) }) {
            bytes = bytes.replacing(Array(secret.utf8), with: Array(RedactionKind.token.replacement.utf8))
        }
        Redactor().redact(&bytes)
        let text = String(decoding: bytes, as: UTF8.self)
        let scalars = text.unicodeScalars.map { TerminalText.isPrintable($0) ? $0 : " " }
        let words = String(String.UnicodeScalarView(scalars)).split(separator: " ")
        let line = words.joined(separator: " ").cut(to: Self.longestWords, by: { $0.unicodeScalars.count })
        return line.isEmpty ? nil : line
    }
}

extension SinkSecret {
    /// The secret, and the parts of one with a colon or with several lines; nothing if it cannot be read.
    var words: [String] {
        guard let text = (try? read()).map({ String(decoding: $0, as: UTF8.self) }) else { return [] }
        return [text] + text.split { $0 == ":" || $0.isNewline }.map(String.init)
    }
}
