import Foundation
import Starwatch
import StarwatchCore

extension SinkKind {
    /// The settings of the kind in the table.
    static var entries: [Entry<SinkOptions>] { settings.map { $0.entry(of: kind) } }
}

extension SinkSetting {
    fileprivate func entry(of kind: String) -> Entry<SinkOptions> {
        var rule = self.rule
        if isNeeded { rule.needed = "a sink of kind \(kind) needs \(key); add it." }
        rule.isLeftToAccounts = part != nil
        // A setting with a default cannot be null.
        if let standard { return Entry(key, \.[key, standard], as: rule, text) }
        return Entry(key, \.[key], as: rule, text)
    }

    /// The rule of a value in the form.
    private var rule: Rule<SinkValue> {
        switch form {
        case .text(let problem): plain(.text(problem))
        case .word(let problem): plain(word(problem))
        case .choice(let words): plain(Choice.rule(of: words))
        case .url: plain(.url)
        case .proxy: plain(.text(ValueRules.proxy))
        case .secretURL: plain(.secretURL)
        case .file: plain(.file())
        case .secretFile(let content): plain(.secretFile(content))
        case .newFile: plain(.newFile)
        case .list(let problem): boxed(list(of: hiding(word(problem))), SinkValue.list, \.list)
        case .program: boxed(.command, SinkValue.list, \.list)
        case .number(let range): boxed(.integer(range), SinkValue.number, \.number)
        case .time(let range): boxed(.duration(range.lowerBound, range.upperBound), SinkValue.time, \.time)
        case .flag: boxed(.flag, SinkValue.flag, \.flag)
        case .body: BodyFile.rule
        }
    }

    private func plain(_ rule: Rule<String>) -> Rule<SinkValue> { boxed(hiding(rule), SinkValue.text, \.text) }

    /// Text in which nothing is replaced.
    private func word(_ problem: @escaping (String) -> String?) -> Rule<String> {
        .text { ValueRules.literal($0) ?? problem($0) }
    }

    /// Addresses: a list, or one of them.
    private func list(of address: Rule<String>) -> Rule<[String]> {
        // Every mail server takes so many receivers (RFC 5321, section 4.5.3.1.8).
        let mostAddresses = 100
        return Rule<[String]>(print: ConfigurationPrinter.list) { field in
            guard let items = field.items else { return address.read(field).map { [$0] } }
            guard (1...mostAddresses).contains(items.count) else {
                return field.reject("must name 1 to \(mostAddresses) addresses.")
            }
            let addresses = items.compactMap { address.read($0) }
            return addresses.count == items.count ? addresses : nil
        }
        .shown { ConfigurationPrinter.list($0.map(address.show)) }
    }

    /// The same rule for the value of a sink.
    private func boxed<Value>(
        _ rule: Rule<Value>,
        _ box: @escaping (Value) -> SinkValue,
        _ open: @escaping (SinkValue) -> Value?
    ) -> Rule<SinkValue> {
        var boxed = Rule<SinkValue>(print: { open($0).map(rule.print) ?? "" }) { rule.read($0).map(box) }
        boxed.show = { open($0).map(rule.show) ?? "" }
        (boxed.choices, boxed.limits) = (rule.choices, rule.limits)
        return boxed
    }

    private func hiding(_ rule: Rule<String>) -> Rule<String> { shown.map { text in rule.shown { _ in text } } ?? rule }

    /// Returns what is wrong with a value on a command line, as the end of a sentence, or `nil`.
    func problem(ofTyped text: String) -> String? {
        switch form {
        case .url: ValueRules.url(text)
        case .secretURL, .secretFile: ValueRules.url(text, allowsQuery: true)
        case .text(let problem): problem(text)
        case .word(let problem), .list(let problem): ValueRules.literal(text) ?? problem(text)
        case .program:
            text.contains("/") && !FileManager.default.isExecutableFile(atPath: text)
                ? "\(text) that can run; correct the path." : nil
        case .choice, .proxy, .number, .time, .flag, .file, .newFile, .body: nil
        }
    }
}

extension SinkOptions {
    /// A setting with a default.
    fileprivate subscript(key: String, standard: SinkValue) -> SinkValue {
        get { self[key] ?? standard }
        set { self[key] = newValue }
    }
}
