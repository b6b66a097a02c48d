import Foundation
import Starwatch
import StarwatchCore

extension Rule<String> {
    /// Text. `problem` returns what is wrong with it, or `nil`.
    static func text(_ problem: @escaping (String) -> String? = { _ in nil }) -> Rule {
        scalar("text", ConfigurationPrinter.scalar) { text, field in
            // A number where an address is wanted needs no quotes, but another value.
            if field.looksLikeAnotherType { return field.reject(problem(text) ?? "must be text; put it in quotes.") }
            return text.isEmpty ? field.reject("must not be empty.") : text
        }
        .checked { text, _ in problem(text) }
    }

    static var url: Rule { text { ValueRules.literal($0) ?? ValueRules.url($0) } }

    /// A URL whose path and query can be a credential.
    static var secretURL: Rule {
        text { ValueRules.literal($0) ?? ValueRules.url($0, allowsQuery: true) }.shown { url in
            guard var parts = URLComponents(string: url), parts.query != nil || parts.path.count > 1 else {
                return ConfigurationPrinter.scalar(url)
            }
            (parts.query, parts.path) = (nil, "")
            return ConfigurationPrinter.scalar((parts.string ?? "") + "/<secret>")
        }
    }

    /// A file that the agent makes. Its path can be neither a folder nor the name of one.
    static var newFile: Rule {
        text { text in
            ValueRules.literal(text)
                ?? (text.hasSuffix("/") ? "must be the path of a file; add its name after the last /." : nil)
        }
        .map(to: text().print) { text, field in
            let path = field.journal.files.path(text)
            if let folder = ["/proc", "/sys"].first(where: { path == $0 || path.hasPrefix($0 + "/") }) {
                return field.reject("is in \(folder), where the kernel keeps no file; name a folder of a disk.")
            }
            var isFolder: ObjCBool = false
            guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder), isFolder.boolValue else {
                return path
            }
            return field.reject("is a folder; add the name of the file.")
        }
    }

    /// A file that need not exist.
    static var path: Rule { text(ValueRules.literal).map(to: text().print) { $1.journal.files.path($0) } }

    /// A file that other users can be allowed to read.
    static func file(canBeEmpty: Bool = false) -> Rule {
        text(ValueRules.literal)
            .checked { $1.journal.files.fileProblem($0, canBeEmpty: canBeEmpty) }
            .map(to: text().print) { $1.journal.files.path($0) }
    }

    /// A file that no other user can read.
    ///
    /// - Parameters:
    ///   - content: The form of the secret.
    ///   - bytes: The length of the shortest accepted secret.
    ///   - canBeSealed: Whether an encrypted credential can stand for the file.
    ///   - maker: The command that makes the file; `nil` for none.
    static func secretFile(
        _ content: SecretContent,
        atLeast bytes: Int = 1,
        canBeSealed: Bool = false,
        maker: String? = nil
    ) -> Rule {
        text {
            ValueRules.literal($0) ?? ($0.allSatisfy(\.isNumber) ? "must be the name of a file with the secret." : nil)
        }
        .checked {
            $1.journal.files.secretProblem(
                $0,
                holding: content,
                atLeast: bytes,
                canBeSealed: canBeSealed,
                maker: maker
            )
        }
        .map(to: text().print) { $1.journal.files.secretPath($0) }
    }
}

extension Rule {
    /// A text that `make` accepts; `problem` is what is wrong with others.
    static func word(
        _ problem: String,
        shown: @escaping (Value) -> String,
        _ make: @escaping (String) -> Value?
    ) -> Rule {
        Rule<String>.text { make($0) == nil ? problem : nil }.map(to: shown) { text, _ in make(text) }
    }
}

extension Rule<[String]> {
    /// A list of texts; null is an empty one.
    static var list: Rule {
        Rule(print: ConfigurationPrinter.list) { field in
            if field.isNull { return [] }
            guard let items = field.items else {
                let lacksSpace = field.text?.prefixMatch(of: /-\S/) != nil
                return field.reject(lacksSpace ? "needs a space after each -." : "must be a list, such as [a, b].")
            }
            let texts = items.compactMap { item in
                (item.looksLikeAnotherType ? nil : item.text) ?? item.reject("must be text; put it in quotes.")
            }
            return texts.count == items.count ? texts : nil
        }
    }

    /// A program and its arguments, which can be secret. A path of the program starts at the file's folder; a name is
    /// searched in `$PATH`.
    static var command: Rule {
        list.checked { argv, _ in argv.isEmpty ? "must name a program." : nil }
            .map(to: list.print) { argv, field in
                guard let program = argv.first, program.contains("/") else { return argv }
                return [field.journal.files.path(program)] + argv.dropFirst()
            }
            .shown { ConfigurationPrinter.list($0.prefix(1) + $0.dropFirst().map { _ in "<secret>" }) }
    }
}
