import StarwatchCore
import Yams

/// An entry of ``ConfigurationTable``: a key, and the way of its value into the options and out of them.
struct Entry<Root> {
    let key: String
    /// Reads the key of a section into the options, if it is there. The journal gets the problems.
    let read: (inout Root, SettingsField) -> Void
    let write: (Root, inout ConfigurationPrinter) -> Void
}

/// A check between the settings of a section, with the options that the section belongs to.
typealias SettingsCheck<Child, Root> = (_ part: Child, _ whole: Root, _ section: SettingsField) -> Void

extension Entry {
    /// A value.
    init<Value>(_ key: String, _ path: WritableKeyPath<Root, Value>, as rule: Rule<Value>, _ comment: String = "") {
        self.init(key: key) { root, section in
            let field = section.field(key)
            if let needed = rule.needed, field.isNull {
                if rule.isLeftToAccounts, section.journal.servesMany { return }
                return section.report(needed, at: field.node == nil ? nil : key)
            }
            guard field.node != nil, let value = rule.read(field) else { return }
            root[keyPath: path] = value
            field.journal.note(field)
        } write: { root, printer in
            let print = printer.revealsSecrets ? rule.print : rule.show
            let isNeeded = rule.needed != nil
            printer.value(
                key,
                print(root[keyPath: path]),
                rule.comment(comment, inReference: printer.isReference),
                isNeeded: isNeeded
            )
        }
    }

    /// A value or null.
    init<Value>(_ key: String, _ path: WritableKeyPath<Root, Value?>, as rule: Rule<Value>, _ comment: String = "") {
        self.init(key, path, as: rule.orNull, comment)
    }

    /// A section.
    init<Child>(
        _ key: String,
        _ path: WritableKeyPath<Root, Child>,
        _ comment: String = "",
        @SettingsBuilder<Child> settings: () -> [Entry<Child>],
        check: @escaping SettingsCheck<Child, Root> = { _, _, _ in }
    ) {
        let settings = settings()
        self.init(key: key) { root, section in
            let field = section.field(key)
            settings.readAll(&root[keyPath: path], from: field)
            check(root[keyPath: path], root, field)
        } write: { root, printer in
            printer.section(key, comment) { settings.write(root[keyPath: path], to: &$0) }
        }
    }

    /// A section that can be left out; `empty` is what its settings are read into.
    init<Child>(
        optional key: String,
        _ path: WritableKeyPath<Root, Child?>,
        _ empty: Child,
        _ comment: String = "",
        @SettingsBuilder<Child> settings: () -> [Entry<Child>],
        check: @escaping SettingsCheck<Child, Root> = { _, _, _ in }
    ) {
        let settings = settings()
        self.init(key: key) { root, section in
            guard section.has(key) else { return }
            var child = empty
            settings.readAll(&child, from: section.field(key))
            guard !section.field(key).isWord else { return }
            root[keyPath: path] = child
            check(child, root, section.field(key))
        } write: { root, printer in
            guard let child = root[keyPath: path] ?? (printer.isReference ? empty : nil) else {
                return printer.value(key, "null", "\(comment): \(settings.map(\.key).joined(separator: ", "))")
            }
            printer.section(key, comment) { settings.write(child, to: &$0) }
        }
    }

    /// A section of named parts, each with the same settings.
    ///
    /// - Parameters:
    ///   - example: The parts that `config default` shows as a comment.
    ///   - others: Writes further examples into the section.
    init<Child: NamedOptions>(
        named key: String,
        _ path: WritableKeyPath<Root, [Child]>,
        _ comment: String,
        _ example: [Child] = [],
        others: @escaping (inout ConfigurationPrinter) -> Void = { _ in },
        @SettingsBuilder<Child> settings: () -> [Entry<Child>],
        check: @escaping SettingsCheck<Child, Root>
    ) {
        let settings = settings()
        func write(_ children: [Child], _ printer: inout ConfigurationPrinter) {
            for child in children { printer.section(child.name.description) { settings.write(child, to: &$0) } }
        }
        self.init(key: key) { root, section in
            let field = section.field(key)
            if field.items != nil {
                return field.report("must be a section with a name for each of them, such as \"mine:\", and no list.")
            }
            guard let parts = field.section, !parts.isNull else { return }
            if parts.isEmptySection, !root[keyPath: path].isEmpty {
                parts.report("must name at least one \(key.dropLast()).")
            }
            parts.limit(parts.fields.count)
            root[keyPath: path] = parts.fields.compactMap { field in
                if field.node?.scalar != nil, !field.isNull, settings.contains(where: { $0.key == field.key }) {
                    return field.reject("is a setting of one of the \(key); indent it below that one's name.")
                }
                if let problem = ValueRules.name(field.key) { return field.reject(problem) }
                guard let part = field.section, var child = Child(named: field.key) else { return nil }
                settings.readAll(&child, from: part)
                check(child, root, part)
                return child
            }
        } write: { root, printer in
            let children = root[keyPath: path]
            if printer.isReference {
                printer.section(key, comment) { printer in
                    guard let child = children.first ?? example.first else { return }
                    printer.section("NAME") { settings.write(child, to: &$0) }
                }
                return
            }
            printer.section(key, comment, isEmpty: children.isEmpty) { printer in
                write(children, &printer)
                others(&printer)
            }
            printer.example { write(example, &$0) }
        }
    }
}

/// Options that the file gives a name.
protocol NamedOptions {
    associatedtype Name: CustomStringConvertible

    var name: Name { get }

    /// `nil` unless the text is a name.
    init?(named text: String)
}

extension Array {
    /// Reads every setting, and reports the keys that none of them has.
    func readAll<Root>(_ root: inout Root, from field: SettingsField) where Element == Entry<Root> {
        guard let section = field.section else { return }
        section.allow(map(\.key))
        for setting in self { setting.read(&root, section) }
    }

    func write<Root>(_ root: Root, to printer: inout ConfigurationPrinter) where Element == Entry<Root> {
        for setting in self { setting.write(root, &printer) }
    }
}

/// The builder of a part of the table. The compiler checks each line on its own, which array literals do not allow.
@resultBuilder enum SettingsBuilder<Root> {
    static func buildExpression(_ setting: Entry<Root>) -> [Entry<Root>] { [setting] }
    static func buildExpression(_ settings: [Entry<Root>]) -> [Entry<Root>] { settings }
    static func buildBlock(_ parts: [Entry<Root>]...) -> [Entry<Root>] { parts.flatMap(\.self) }
    static func buildEither(first: [Entry<Root>]) -> [Entry<Root>] { first }
    static func buildEither(second: [Entry<Root>]) -> [Entry<Root>] { second }
}
