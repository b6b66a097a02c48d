import Foundation
import Starwatch
import StarwatchCore

extension ConfigurationTable {
    static var delivery: Entry<AgentOptions> {
        Entry("delivery", \.delivery) {
            Entry(
                "group_wait",
                \.groupWait,
                as: .duration(.zero, .days(1)),
                "how long the first change waits for others"
            )
            Entry("group_interval", \.groupInterval, as: .duration(.zero, .days(7)), "one notification per interval")
            Entry("max_group_size", \.maxGroupSize, as: .integer(1...100), "above it, \"several\" become \"many\"")
            Entry("locale", \.locale, as: .text(ValueRules.locale), "en, ja, pl or one of catalogues; pl-PL uses pl")
            Entry("catalogues", \.folder, as: catalogues, "a folder with your own texts: LOCALE.json, such as pl.json")
            Entry("project_names", \.projectNames, as: projectNames, "your own project names: {HANDLE: name, ...}")
            Entry("announce_own", \.announceOwn, as: .flag, "true: also your own changes, offers and gifts")
            Entry(
                "staleness_notice",
                \.stalenessNotice,
                as: .flag,
                "one quiet notification while a poll is stale; null: not for many accounts"
            )
            sinks
        }
    }

    /// A folder of message catalogues.
    private static var catalogues: Rule<CatalogueFolder> {
        Rule<String>.path.map(to: { ConfigurationPrinter.scalar($0.path) }) { path, field in
            do throws(CatalogueFolder.Problem) {
                return try CatalogueFolder(reading: path)
            } catch {
                return field.reject(error.message)
            }
        }
    }

    /// Names of projects by handle. A handle identifies a project, so no problem repeats one.
    private static var projectNames: Rule<[String: String]> {
        let print: ([String: String]) -> String = { names in
            "{\(names.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }.joined(separator: ", "))}"
        }
        return Rule(print: print) { field in
            field.section?.fields.reduce(into: [:]) { names, entry in
                names[entry.key] = ProjectHandle(entry.key).flatMap { _ in entry.text }
                guard names[entry.key] == nil else { return }
                field.journal.report("must map each project handle to a name.", at: field.path, line: entry.line)
            }
        }
        .shown { $0.isEmpty ? "{}" : "{<plan>: <name>}" }
    }

    private static var sink: [Entry<SinkDraft>] {
        let kinds = SinkDraft.Kind.allCases.map(\.rawValue).joined(separator: ", ")
        return [
            Entry("name", \.name, as: .text(ValueRules.name).needed("needs a name.")),
            Entry("kind", \.kind, as: .choice(isLong: true).needed("needs a kind: one of \(kinds).")),
        ]
    }

    /// The settings of every kind, after the kind's own.
    private static var common: [Entry<SinkDraft>] {
        [
            Entry("required", \.isRequired, as: .flag, "false: changes do not wait for this sink"),
            Entry("give_up_after", \.giveUpAfter, as: .duration(.seconds(1)), "outage after which it is a dead letter"),
        ] + HourRules.settings
    }

    /// The further settings of a sink of a kind.
    @SettingsBuilder<SinkDraft> private static func sink(of kind: SinkDraft.Kind) -> [Entry<SinkDraft>] {
        let needs = { (key: String) in "a sink of kind \(kind.rawValue) needs \(key); add it." }
        switch kind {
        case .stdout, .log:
            []
        case .feed:
            Entry("keep", \.keep, as: .integer(1...10_000), "notifications")
        case .file:
            Entry("path", \.path, as: .newFile.needed(needs("path")))
            canary
        case .webhook:
            Entry("url", \.url, as: .secretURL, "or url_file; telegram and pushover need none")
            Entry("format", \.format, as: .choice(isLong: true), "a chat's service; null: Standard Webhooks")
            Entry("body_file", \.body, as: BodyFile.rule, "a template of the body, as JSON with {{title}}")
            Entry("url_file", \.urlFile, as: .secretFile(.line), "a file with the URL")
            Entry("room", \.room, as: .text(ValueRules.room).secret, "receiver, for matrix, telegram and pushover")
            Entry("topic", \.chatTopic, as: .integer(ChatOptions.topics), "telegram: message_thread_id of a topic")
            Entry("token_file", \.tokenFile, as: .secretFile(.token), "matrix, telegram, gotify, pushover")
            Entry(
                "secret_file",
                \.secretFile,
                as: .secretFile(.keys),
                "whsec_ and base64, or bytes; two whsec_ lines to rotate"
            )
            Entry("include_account", \.includesAccount, as: .flag, "true: adds account_did, the account's DID")
            connection
            Entry("timeout", \.timeout, as: .duration(.milliseconds(100), SinkOptions.longestTimeout))
            canary
        case .ntfy:
            Entry("url", \.url, as: .url.needed(needs("url")).leftToAccounts)
            Entry("topic", \.topic, as: .text(ValueRules.topic).secret.needed(needs("topic")).leftToAccounts)
            Entry("token_file", \.tokenFile, as: .secretFile(.token))
            connection
        case .email:
            Entry(
                "url",
                \.url,
                as: .text { ValueRules.literal($0) ?? MailURL.problem($0) }.needed(needs("url")),
                "smtps://, or smtp:// with STARTTLS"
            )
            Entry("from", \.from, as: MailRules.mailbox.needed(needs("from")), "the sender, with or without a name")
            Entry("to", \.to, as: MailRules.mailboxes.needed(needs("to")).leftToAccounts, "one receiver or a list")
            Entry("username", \.username, as: .text().shown { _ in "<username>" })
            Entry("password_file", \.passwordFile, as: .secretFile(.line))
            connection
        case .command:
            Entry("argv", \.argv, as: .command.needed(needs("argv")))
            Entry("timeout", \.timeout, as: .duration(.milliseconds(100), SinkOptions.longestTimeout))
            canary
        }
    }

    /// Only for sinks that a program reads.
    private static var canary: Entry<SinkDraft> {
        Entry("canary", \.takesCanaries, as: .flag, "true: gets the synthetic changes of canary")
    }

    @SettingsBuilder<SinkDraft> private static var connection: [Entry<SinkDraft>] {
        Entry("proxy", \.proxy, as: .text(ValueRules.proxy), "as server.proxy")
        Entry("proxy_login_file", \.proxyLoginFile, as: .secretFile(.login), "as server.proxy_login_file")
        Entry("ca_file", \.caFile, as: .file(), "additional trust anchors, PEM")
    }

    private static var sinks: Entry<DeliveryOptions> {
        Entry(key: "sinks") { delivery, section in
            let field = section.field("sinks")
            guard field.node != nil else { return }
            guard !field.isNull else {
                return field.report("is empty; add a sink below it, or remove the line for a sink that logs.")
            }
            guard let items = field.items else {
                return field.report(
                    "must be a list of sinks; begin each with \"- name: NAME\" and \"kind: KIND\" below it."
                )
            }
            if items.isEmpty { field.report("must name at least one sink.") }
            field.limit(items.count)
            delivery.sinks = items.reduce(into: []) { $0 += read($1, beside: $0) }
            if !delivery.sinks.isEmpty, delivery.sinks.allSatisfy({ !$0.isRequired }) {
                field.report("must have a sink that is required; remove required: false from one.")
            }
        } write: { delivery, printer in
            if printer.isReference { return describe(&printer) }
            let kinds = SinkDraft.Kind.allCases.map(\.rawValue).joined(separator: " | ")
            printer.section("sinks", "at most \(maximumParts); kind: \(kinds)") { printer in
                for (index, sink) in delivery.sinks.enumerated() { write(SinkDraft(sink), common, at: index, &printer) }
            }
            for (comment, sink) in SinkDraft.examples { printer.example(comment) { write(sink, [], at: 0, &$0) } }
        }
    }

    /// Writes the settings of every kind for the reference.
    private static func describe(_ printer: inout ConfigurationPrinter) {
        printer.section("sinks[]", "at most \(maximumParts)") { (sink + common).write(SinkDraft(), to: &$0) }
        for kind in SinkDraft.Kind.allCases {
            printer.section("sinks[\(kind.rawValue)]") { sink(of: kind).write(SinkDraft(), to: &$0) }
        }
    }

    private static let example = "must have a name and a kind, such as {name: log, kind: log}."

    private static func read(_ field: SettingsField, beside others: [SinkOptions]) -> [SinkOptions] {
        if field.isWord { return field.reject(Self.example) ?? [] }
        guard let section = field.section else { return [] }
        guard !section.isNull else { return section.reject(Self.example) ?? [] }
        var draft = SinkDraft()
        for setting in sink { setting.read(&draft, section) }
        guard let kind = draft.kind else { return [] }
        let settings = sink(of: kind) + common
        section.allow((sink + settings).map(\.key)) { key in
            let others = SinkDraft.Kind.allCases.filter { sink(of: $0).contains { $0.key == key } }.map(\.rawValue)
            guard let last = others.last else { return nil }
            let kinds = others.count == 1 ? last : others.dropLast().joined(separator: ", ") + " or " + last
            return "only a sink of kind \(kinds) has this setting, and this one is of kind \(kind.rawValue); remove it."
        }
        for setting in settings { setting.read(&draft, section) }
        if kind == .webhook { WebhookRules.check(draft, section) }
        if kind == .email { MailRules.check(section) }
        checkProxyLogin(section)
        HourRules.check(section)
        if others.contains(where: { $0.name == draft.name }) {
            section.report("is the name of another sink; choose a different one.", at: "name")
        }
        if kind == .feed, others.contains(where: { SinkDraft($0).kind == .feed }) {
            section.report("is the kind of another sink; remove one, because only one feed is possible.", at: "kind")
        }
        return draft.options.map { [$0] } ?? []
    }

    private static func write(
        _ draft: SinkDraft,
        _ common: [Entry<SinkDraft>],
        at index: Int,
        _ printer: inout ConfigurationPrinter
    ) {
        guard let kind = draft.kind else { return }
        printer.item(index) { (sink + sink(of: kind) + common).write(draft, to: &$0) }
    }
}

extension DeliveryOptions {
    /// The catalogues that the file adds to the built-in ones.
    fileprivate var folder: CatalogueFolder? {
        get { catalogueFolder.map { CatalogueFolder(path: $0, catalogues: []) } }
        set {
            catalogueFolder = newValue?.path
            catalogues = MessageCatalogues.builtIn.adding(newValue?.catalogues ?? [])
        }
    }
}

/// A folder of message catalogues, one JSON file per locale: `pl.json`, `pt-BR.json`.
struct CatalogueFolder {
    struct Problem: Error, Sendable {
        var message: String
    }

    /// The limit of a file. A catalogue is a few kilobytes.
    private static let largestBytes = 1 << 20

    var path: String
    var catalogues: [MessageCatalogue]
}

extension CatalogueFolder {
    init(reading path: String) throws(Problem) {
        guard let names = try? FileManager.default.contentsOfDirectory(atPath: path) else {
            throw Problem(message: "there is no folder \(path) that this user can read; create it or correct the path.")
        }
        let files = names.filter { $0.hasSuffix(".json") && !$0.hasPrefix(".") }.sorted()
        guard !files.isEmpty else {
            throw Problem(message: "\(path) contains no catalogue; name files by their locale, such as pl.json.")
        }
        self.init(path: path, catalogues: [])
        for file in files {
            guard let locale = LocaleTag(file.dropLast(5)) else {
                throw Problem(message: "\(file) must be named by a locale, such as pl.json or pt-BR.json.")
            }
            if catalogues.contains(where: { $0.locale == locale }) {
                throw Problem(message: "\(file) has the same locale as another file; remove one.")
            }
            guard let data = FileManager.default.contents(atPath: path + "/" + file), data.count <= Self.largestBytes
            else { throw Problem(message: "\(file) cannot be read by this user, or is larger than 1MiB.") }
            do throws(MessageCatalogue.Failure) {
                catalogues.append(try MessageCatalogue(locale, json: data))
            } catch {
                throw Problem(message: "\(file): \(error).")
            }
        }
    }
}

/// The rules between the settings of a webhook: each service of a chat needs its own.
enum WebhookRules {
    static func check(_ draft: SinkDraft, _ section: SettingsField) {
        // A value that its own rule rejects is there.
        func has(_ key: String) -> Bool { !section.field(key).isNull }
        checkURLs(draft, section)
        guard let service = draft.format else {
            guard !has("format") else { return }
            if !has("url"), !has("url_file"), !section.journal.servesMany {
                section.report("a sink of kind webhook needs url or url_file; add one of the two.")
            }
            for key in ["room", "topic", "token_file"] where has(key) {
                section.report("needs format; add format or remove this setting.", at: key)
            }
            draft.body?.check(includesAccount: draft.includesAccount, at: section.field("body_file"))
            return
        }
        let format = "the format \(service.rawValue)"
        if has("body_file") { section.report("and format are both set; remove one.", at: "body_file") }
        if let room = draft.room, let problem = ChatAddress.problem(ofRoom: room, for: service) {
            section.report(problem, at: "room")
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
        if has("topic"), !service.hasTopics {
            section.report("has no effect with \(format); remove it.", at: "topic")
        } else if has("topic"), !has("room"), section.journal.servesMany {
            section.report("is one of a room, and each account brings its own; remove it.", at: "topic")
        }
        for key in ["secret_file", "include_account", "canary"] where has(key) && section.field(key).text != "false" {
            section.report("is for programs that read a webhook, not for \(format); remove it.", at: key)
        }
    }

    private static func checkURLs(_ draft: SinkDraft, _ section: SettingsField) {
        if section.has("url"), section.has("url_file") {
            section.report("and url_file are both set; remove one.", at: "url")
        }
        func fault(of url: String) -> String? { draft.format.flatMap { ChatAddress.problem(of: url, for: $0) } }
        if let url = draft.url, let problem = fault(of: url) { section.report(problem, at: "url") }
        // Commands that need no secret read none.
        if section.journal.files.checksSecrets, let file = draft.urlFile,
            let content = FileManager.default.contents(atPath: file),
            let bytes = try? SecretContent.line.secret(in: Array(content)),
            case let url = String(decoding: bytes, as: UTF8.self).trimmingSpaces,
            let problem = ValueRules.url(url, allowsQuery: true) ?? fault(of: url)
        {
            section.report("contains a bad address: it \(problem)", at: "url_file")
        }
    }
}
