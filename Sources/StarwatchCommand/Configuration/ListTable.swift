import Starwatch
import StarwatchCore

/// The settings of polls of the kind `json`.
enum ListTable {
    /// The settings, which polls of other kinds have only in the reference.
    static var entries: [Entry<PollOptions>] {
        settings.map { setting in
            Entry(key: setting.key, read: setting.read) { poll, printer in
                if printer.isReference || poll.kind.isList { setting.write(poll, &printer) }
            }
        }
    }

    @SettingsBuilder<PollOptions> private static var settings: [Entry<PollOptions>] {
        Entry("url", \.listURL, as: .text { ValueRules.literal($0) ?? ValueRules.listURL($0) }, "kind json: the list")
        Entry("query", \.list.query, as: query, "its parameters: {limit: 50}")
        Entry("headers_file", \.list.headersFile, as: .secretFile(.headers), "its headers, \"Name: value\" a line")
        Entry("items", \.list.items, as: pointer, "place of the list: /data; \"\": the whole answer")
        Entry("id", \.listID, as: pointer, "place in an item of its id: /id")
        Entry("version", \.list.version, as: pointer, "another one is an edit: /updated_at; null: any change is")
        Entry("name", \.list.name, as: pointer, "null: the id")
        Entry("link", \.list.link, as: pointer, "URL of the item: /html_url")
        Entry("fields", \.list.fields, as: fields, "for texts and body_file: {author: /user/login}")
        Entry("order", \.list.order, as: .choice(), "newest_first: reads pages until one has nothing new")
        next
        Entry("max_pages", \.list.maxPages, as: .integer(1...100), "pages of a poll")
        since
        Entry("expect", \.list.expect, as: expectations, "of the answer: [{pointer: /status, equals: ok}]")
        Entry("texts", \.texts, "of notifications, in place of the usual ones") {
            Entry("title", \.title, as: .text(), "null: the usual one")
            Entry("single", \.single, as: .text(), "such as \"{name} is out\"")
            Entry("several", \.several, as: .text(), "such as \"{count} releases\"")
        }
    }

    private static var next: Entry<PollOptions> {
        Entry(optional: "next", \.nextForm, NextForm(), "the way to the next page; null: one page") {
            Entry("link_header", \.usesLinkHeader, as: .flag, "true: the URL in the header Link")
            Entry("pointer", \.pointer, as: pointer, "place of its URL, or of the value of parameter")
            Entry("parameter", \.parameter, as: .text(ValueRules.parameter), "with pointer: the cursor's parameter")
            Entry("page", \.page, as: .text(ValueRules.parameter), "the parameter with the number of the page")
            Entry("first", \.first, as: .integer(0...1_000_000), "with page: number of the first one; null: 1")
        } check: { form, _, section in
            form.check(section)
        }
    }

    private static var since: Entry<PollOptions> {
        Entry(optional: "since", \.list.since, JSONPoll.Since(), "asks only for newer items") {
            let parameter = Rule<String>.text(ValueRules.parameter)
                .needed("needs parameter, the name of the parameter for newer items; add it.")
            Entry("parameter", \.parameter, as: parameter, "the parameter for newer items")
            let from = pointer.needed("needs from, the place of the time in an item; add it.")
            Entry("from", \.from, as: from, "place in an item of a time, or of a whole number")
            Entry("overlap", \.overlap, as: .duration(.zero, .days(30)), "asks again for the items of this time")
        }
    }

    /// Parameters by name. A value can be a credential, whose name tells.
    private static var query: Rule<[String: String]> {
        let print: ([String: String], (String, String) -> String) -> String = { query, value in
            let parameters = query.sorted { $0.key < $1.key }
            return "{"
                + parameters.map { "\(ConfigurationPrinter.scalar($0.key)): \(value($0.key, $0.value))" }
                .joined(separator: ", ") + "}"
        }
        return Rule(print: { print($0) { ConfigurationPrinter.scalar($1) } }) { field in
            field.section?.fields.reduce(into: [:]) { query, entry in
                if let problem = ValueRules.parameter(entry.key) { return entry.report(problem) }
                guard let value = entry.scalar("text or a number") else { return }
                if let problem = ValueRules.parameterValue(value) { return entry.report(problem) }
                query[entry.key] = value
            }
        }
        .shown { print($0) { ValueRules.hasCredential("\($0)=\($1)") ? "<secret>" : ConfigurationPrinter.scalar($1) } }
        .checked(limits: "at most 20") { query, _ in
            query.count > 20 ? "must have at most 20 parameters; found \(query.count)." : nil
        }
    }

    /// Places by the names of fields.
    private static var fields: Rule<[String: JSONPointer]> {
        let print = { (fields: [String: JSONPointer]) in
            let places = fields.sorted { $0.key < $1.key }
            return
                "{\(places.map { "\($0.key): \(ConfigurationPrinter.scalar($0.value.rawValue))" }.joined(separator: ", "))}"
        }
        return Rule(print: print) { field in
            field.section?.fields.reduce(into: [:]) { fields, entry in
                if let problem = ValueRules.fieldName(entry.key) { return entry.report(problem) }
                fields[entry.key] = pointer.read(entry)
            }
        }
        .checked(limits: "at most 16") { fields, _ in
            fields.count > 16 ? "must name at most 16 fields; found \(fields.count)." : nil
        }
    }

    // MARK: Checks

    /// Checks the settings of a poll that belong to lists, or that lists do not have.
    static func check(_ poll: PollOptions, _ section: SettingsField) {
        // Of a misspelt kind, the kind is the only mistake.
        if let word = section.field("kind").text, PollKind(rawValue: word) == nil { return }
        guard poll.kind.isList else {
            for key in settings.map(\.key) where section.has(key) {
                section.report("is only for polls of the kind json; remove it.", at: key)
            }
            return
        }
        if ["run", "try"].contains(poll.name.rawValue) {
            section.report("is a command of starwatch poll; choose another name.")
        }
        if !section.has("url") { section.report("needs url, the address of the list; add it.") }
        if !section.has("id") {
            section.report("needs id, the place in an item of what makes it one, such as /id; add it.")
        }
        if poll.validation == .strict {
            section.report("cannot be strict for a list; use expect, or remove it.", at: "validation")
        }
        if poll.bootstrap == .lastWeek {
            section.report("cannot be last_week for a list; use latest or beginning.", at: "bootstrap")
        }
        checkParameters(poll, section)
        checkTexts(poll, section)
    }

    /// Reports a parameter with two values.
    private static func checkParameters(_ poll: PollOptions, _ section: SettingsField) {
        guard let list = poll.json else { return }
        let next = list.next?.parameter
        if let next, list.query[next] != nil {
            let key = if case .number = list.next { "page" } else { "parameter" }
            section.field("next").report("is a parameter of query too; remove it there.", at: key)
        }
        guard let since = list.since?.parameter else { return }
        if list.query[since] != nil {
            section.field("since").report("is a parameter of query too; remove it there.", at: "parameter")
        }
        if since == next {
            section.field("since").report("is the parameter of next too; correct one of them.", at: "parameter")
        }
    }

    private static func checkTexts(_ poll: PollOptions, _ section: SettingsField) {
        let fields = Set(poll.json?.fields.keys.map(\.self) ?? [])
        for (key, problem) in poll.texts.problems(fields: fields) {
            section.field("texts").report(problem, at: key)
        }
    }
}

extension JSONPoll.Next {
    /// The parameter of a page.
    fileprivate var parameter: String? {
        switch self {
        case .linkHeader, .url: nil
        case .cursor(_, let parameter), .number(let parameter, _): parameter
        }
    }
}

/// The settings of ``JSONPoll/Next``, of which each form has some.
private struct NextForm {
    var usesLinkHeader = false
    var pointer: JSONPointer?
    var parameter: String?
    var page: String?
    var first: Int?

    /// The next page; `nil` for settings of no form.
    var next: JSONPoll.Next? {
        if usesLinkHeader { return .linkHeader }
        if let page { return .number(parameter: page, first: first ?? 1) }
        guard let pointer else { return nil }
        return parameter.map { .cursor(at: pointer, parameter: $0) } ?? .url(at: pointer)
    }

    /// Reports settings of no form, and of more than one. One that is there and wrong has its own problem.
    func check(_ section: SettingsField) {
        let forms = ["pointer", "page"].filter(section.has) + (usesLinkHeader ? ["link_header"] : [])
        if forms.count > 1 {
            return section.report("has two forms; keep one of link_header, pointer and page.")
        }
        if forms.isEmpty, section.field("link_header").text.flatMap(Bool.init) != nil || section.fields.isEmpty {
            section.report("needs link_header: true, pointer or page; add one.")
        }
        if section.has("parameter"), !section.has("pointer") {
            section.report("needs pointer, the place of its value in the answer; add it.", at: "parameter")
        }
        if section.has("first"), !section.has("page") {
            section.report("needs page, the parameter with the number; add it.", at: "first")
        }
    }
}

extension NextForm {
    fileprivate init(_ next: JSONPoll.Next) {
        self.init()
        switch next {
        case .linkHeader: usesLinkHeader = true
        case .url(let place): pointer = place
        case .cursor(let place, let parameter): (pointer, self.parameter) = (place, parameter)
        case .number(let parameter, let first): (page, self.first) = (parameter, first)
        }
    }
}

/// The settings of a list, as settings of the poll.
extension PollOptions {
    fileprivate var list: JSONPoll {
        get { json ?? JSONPoll() }
        set { json = newValue }
    }

    fileprivate var listURL: String? {
        get { json?.url }
        set { if let newValue { list.url = newValue } }
    }

    fileprivate var listID: JSONPointer? {
        get { json?.id }
        set { if let newValue { list.id = newValue } }
    }

    fileprivate var nextForm: NextForm? {
        get { json?.next.map(NextForm.init) }
        set { list.next = newValue?.next }
    }
}
