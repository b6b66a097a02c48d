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
            do throws(AgentError) {
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

    private static var sink: [Entry<SinkOptions>] {
        let kinds = SinkFactory.kinds.map { $0.kind }
        let needed = "needs a kind: one of \(kinds.joined(separator: ", "))."
        return [
            Entry("name", \.name, as: .text(ValueRules.name).needed("needs a name.")),
            Entry("kind", \.word, as: Choice.rule(of: kinds).needed(needed)),
        ]
    }

    /// The settings of every kind, after the kind's own.
    private static var common: [Entry<SinkOptions>] {
        [
            Entry("required", \.isRequired, as: .flag, "false: changes do not wait for this sink"),
            Entry("give_up_after", \.giveUpAfter, as: .duration(.seconds(1)), "outage after which it is a dead letter"),
        ] + hours
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
            let kinds = SinkFactory.kinds.map { $0.kind }.joined(separator: " | ")
            printer.section("sinks", "at most \(maximumParts); kind: \(kinds)") { printer in
                for (index, sink) in delivery.sinks.enumerated() { write(sink, common, at: index, &printer) }
            }
            for (comment, sink) in SinkFactory.kinds.flatMap({ $0.examples }) {
                printer.example(comment) { write(sink, [], at: 0, &$0) }
            }
        }
    }

    /// Writes the settings of every kind for the reference.
    private static func describe(_ printer: inout ConfigurationPrinter) {
        let empty = SinkOptions(name: "", kind: .log)
        printer.section("sinks[]", "at most \(maximumParts)") { (sink + common).write(empty, to: &$0) }
        for kind in SinkFactory.kinds {
            printer.section("sinks[\(kind.kind)]") {
                kind.entries.write(SinkOptions(name: "", kind: SinkOptions.Kind(kind)), to: &$0)
            }
        }
    }

    private static let example = "must have a name and a kind, such as {name: log, kind: log}."

    private static func read(_ field: SettingsField, beside others: [SinkOptions]) -> [SinkOptions] {
        if field.isWord { return field.reject(Self.example) ?? [] }
        guard let section = field.section else { return [] }
        guard !section.isNull else { return section.reject(Self.example) ?? [] }
        var options = SinkOptions(name: "", kind: .log)
        for setting in sink { setting.read(&options, section) }
        guard let kind = SinkFactory.kinds.first(where: { $0.kind == section.field("kind").text }) else { return [] }
        let settings = kind.entries + common
        section.allow((sink + settings).map(\.key)) { key in
            let others = SinkFactory.kinds.filter { $0.setting(key) != nil }.map { $0.kind }
            guard let last = others.last else { return nil }
            let kinds = others.count == 1 ? last : others.dropLast().joined(separator: ", ") + " or " + last
            return "only a sink of kind \(kinds) has this setting, and this one is of kind \(kind.kind); remove it."
        }
        for setting in settings { setting.read(&options, section) }
        check(options, section)
        checkProxyLogin(section)
        checkHours(section)
        if others.contains(where: { $0.name == options.name }) {
            section.report("is the name of another sink; choose a different one.", at: "name")
        }
        if kind == FeedSink.self, others.contains(where: { $0.kind.type == kind }) {
            section.report("is the kind of another sink; remove one, because only one feed is possible.", at: "kind")
        }
        return [options]
    }

    /// Checks the parts of the address, and between the settings of a kind.
    private static func check(_ sink: SinkOptions, _ section: SettingsField) {
        let kind = sink.kind.type
        for setting in kind.settings where setting.form.use == .other {
            guard let part = setting.part, let text = sink[setting.key]?.text else { continue }
            if let problem = kind.problem(of: part, text, in: sink) { section.report(problem, at: setting.key) }
        }
        // Commands that need no secret read none.
        if section.journal.files.loader.checksSecrets, let file = sink["url_file"]?.text,
            let content = FileManager.default.contents(atPath: file),
            let bytes = try? SecretContent.line.secret(in: Array(content)),
            case let url = String(decoding: bytes, as: UTF8.self).trimmingSpaces,
            let problem = ValueRules.url(url, allowsQuery: true) ?? kind.problem(of: .url, url, in: sink)
        {
            section.report("contains a bad address: it \(problem)", at: "url_file")
        }
        for (key, message) in kind.mistakes(in: sink, has: section.has, isForMany: section.journal.servesMany) {
            section.report(message, at: key)
        }
        if !section.has("format") { BodyFile.check(sink, at: section.field("body_file")) }
    }

    private static func write(
        _ options: SinkOptions,
        _ common: [Entry<SinkOptions>],
        at index: Int,
        _ printer: inout ConfigurationPrinter
    ) {
        printer.item(index) { (sink + options.kind.type.entries + common).write(options, to: &$0) }
    }
}

extension SinkOptions {
    /// The word for the kind.
    fileprivate var word: String {
        get { kind.type.kind }
        set { if let type = SinkFactory.kinds.first(where: { $0.kind == newValue }) { kind = Kind(type) } }
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
    /// The limit of a file. A catalogue is a few kilobytes.
    private static let largestBytes = 1 << 20

    var path: String
    var catalogues: [MessageCatalogue]
}

extension CatalogueFolder {
    init(reading path: String) throws(AgentError) {
        guard let names = try? FileManager.default.contentsOfDirectory(atPath: path) else {
            throw AgentError(
                .configuration,
                "there is no folder \(path) that this user can read; create it or correct the path."
            )
        }
        let files = names.filter { $0.hasSuffix(".json") && !$0.hasPrefix(".") }.sorted()
        guard !files.isEmpty else {
            throw AgentError(
                .configuration,
                "\(path) contains no catalogue; name files by their locale, such as pl.json."
            )
        }
        self.init(path: path, catalogues: [])
        for file in files {
            guard let locale = LocaleTag(file.dropLast(5)) else {
                throw AgentError(.configuration, "\(file) must be named by a locale, such as pl.json or pt-BR.json.")
            }
            if catalogues.contains(where: { $0.locale == locale }) {
                throw AgentError(.configuration, "\(file) has the same locale as another file; remove one.")
            }
            guard let data = FileManager.default.contents(atPath: path + "/" + file), data.count <= Self.largestBytes
            else { throw AgentError(.configuration, "\(file) cannot be read by this user, or is larger than 1MiB.") }
            do throws(MessageCatalogue.Failure) {
                catalogues.append(try MessageCatalogue(locale, json: data))
            } catch {
                throw AgentError(.configuration, "\(file): \(error).")
            }
        }
    }
}
