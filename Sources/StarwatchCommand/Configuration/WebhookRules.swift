import Foundation
import Starwatch
import StarwatchCore

/// The rules between the settings of a webhook: each service of a chat needs its own.
enum WebhookRules {
    static func check(_ draft: SinkDraft, _ section: SettingsField) {
        // A value that its own rule rejects is there.
        func has(_ key: String) -> Bool { !section.field(key).isNull }
        guard let service = draft.format else {
            guard !has("format") else { return }
            if !has("url"), !section.journal.servesMany { section.report("a sink of kind webhook needs url; add it.") }
            for key in ["url_file", "room", "token_file"] where has(key) {
                section.report("needs format; add format or remove this setting.", at: key)
            }
            return
        }
        let format = "the format \(service.rawValue)"
        if has("url"), has("url_file") {
            section.report("and url_file are both set; remove one.", at: "url")
        }
        if let url = draft.url, let problem = problem(of: url, service) { section.report(problem, at: "url") }
        // Commands that need no secret read none.
        if section.journal.files.checksSecrets, let file = draft.urlFile,
            let url = (try? String(contentsOfFile: file, encoding: .utf8))?.trimmingSpaces,
            let problem = ValueRules.url(url, allowsQuery: true) ?? problem(of: url, service)
        {
            section.report("contains a bad address: it \(problem)", at: "url_file")
        }
        var missing: [String] = []
        if !has("url"), !has("url_file"), service.standardURL == nil { missing.append("url or url_file") }
        for (key, isNeeded) in [("room", service.needsRoom), ("token_file", service.needsToken)] {
            if isNeeded, !has(key) { missing.append(key) }
            if !isNeeded, has(key) { section.report("has no effect with \(format); remove it.", at: key) }
        }
        if !missing.isEmpty, !section.journal.servesMany {
            section.report("\(format) needs \(missing.joined(separator: ", and ")); add what is missing.")
        }
        for key in ["secret_file", "include_account", "canary"] where has(key) && section.field(key).text != "false" {
            section.report("is for programs that read a webhook, not for \(format); remove it.", at: key)
        }
    }

    /// Returns what is wrong with the address of a service, or `nil`.
    static func problem(of url: String, _ service: ChatService) -> String? {
        guard let path = service.path, !ChatAddress.hasPath(url, of: service) else { return nil }
        return "must be the address that \(service.rawValue) gave, with \(path) in it."
    }
}
