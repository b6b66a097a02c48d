import StarwatchCore
import StarwatchHTTP

/// The table of the settings of a web configuration file, which has the format of the Prometheus exporters.
///
/// A setting of that format that the agent cannot obey is an error, because ignoring it would promise something.
extension WebConfiguration {
    @SettingsBuilder<WebConfiguration> static var settings: [Entry<WebConfiguration>] {
        Entry(optional: "tls_server_config", \.tls, TLS(), "no TLS") { tlsSettings }
        Entry("http_server_config", \.self) {
            // A client chooses HTTP/2 in the handshake, and chooses HTTP/1.1 if it is not offered.
            hint("http2")
            Entry("headers", \.headers, as: answerHeaders)
        }
        Entry("basic_auth_users", \.users, as: passwordHashes)
        never("rate_limit", "the agent limits each client by itself, whatever this says; remove it.")
    }

    @SettingsBuilder<TLS> private static var tlsSettings: [Entry<TLS>] {
        Entry("cert_file", \.certificateFile, as: .file().needed("needs cert_file; add it."))
        Entry("key_file", \.keyFile, as: .secretFile(.text).needed("needs key_file; add it."))
        Entry("client_ca_file", \.clientCAFile, as: .file())
        Entry("client_auth_type", \.clientCertificates, as: .choice(aliases: formerTypes))
        Entry("client_allowed_sans", \.allowedClientNames, as: .list)
        Entry("min_version", \.minimumVersion, as: tlsVersion)
        Entry("max_version", \.maximumVersion, as: tlsVersion)
        Entry("cipher_suites", \.cipherSuites, as: cipherSuites)
        Entry("curve_preferences", \.curves, as: curves)
        // The suites are equally strong, and the exporters ignore it too.
        hint("prefer_server_cipher_suites")
        never("cert", "the certificate belongs into a file of its own; name that with cert_file.")
        never(
            "key",
            "the key is a secret, which never belongs here; write it into a file, and name that with key_file."
        )
        never("client_ca", "the certificates belong into a file of their own; name that with client_ca_file.")
    }

    /// A setting of the format that the agent cannot obey.
    private static func never<Root>(_ key: String, _ problem: String) -> Entry<Root> {
        idle(key) { $0.report(problem) }
    }

    /// A flag of the format that promises nothing, and changes nothing here.
    private static func hint<Root>(_ key: String) -> Entry<Root> { idle(key) { _ = Rule<Bool>.flag.read($0) } }

    /// A setting without a value in the configuration.
    private static func idle<Root>(_ key: String, _ check: @escaping (SettingsField) -> Void) -> Entry<Root> {
        Entry(key: key) { _, section in
            if section.has(key) { check(section.field(key)) }
        } write: { _, _ in
        }
    }

    // MARK: - Rules

    /// The format's former name of a type.
    private static let formerTypes = ["RequireClientCert": ClientCertificates.requireAny.rawValue]

    private static var tlsVersion: Rule<Version> {
        let known = Rule<Version>.choice()
        return Rule(print: known.print) { field in
            if let text = field.text, ["TLS10", "TLS11"].contains(text) {
                return field.reject("\(text) is not secure, and the agent never offers it; use TLS12 or TLS13.")
            }
            return known.read(field)
        }
    }

    private static var cipherSuites: Rule<[CipherSuite]> {
        words(
            "names a suite that the agent does not offer; use those of ECDHE with GCM or CHACHA20, such as "
                + "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256."
        )
    }

    private static var curves: Rule<[Curve]> {
        words("must be a list of \(Curve.allCases.map(\.rawValue).joined(separator: ", ")).")
    }

    /// A list of words, each one of a fixed set.
    private static func words<Word: RawRepresentable<String>>(_ problem: String) -> Rule<[Word]> {
        Rule<[String]>.list.map(to: { ConfigurationPrinter.list($0.map(\.rawValue)) }) { texts, field in
            let words = texts.compactMap(Word.init(rawValue:))
            return words.count == texts.count ? words : field.reject(problem)
        }
    }

    /// The headers that the format allows, with the values of those that have few.
    private static let allowedHeaders: [(name: String, values: [String])] = [
        ("Content-Security-Policy", []),
        ("Strict-Transport-Security", []),
        ("X-Content-Type-Options", ["nosniff"]),
        ("X-Frame-Options", ["deny", "sameorigin"]),
        ("X-XSS-Protection", []),
    ]

    /// Headers of every answer.
    private static var answerHeaders: Rule<[String: String]> {
        Rule(print: { ConfigurationPrinter.list($0.keys.sorted()) }) { field in
            guard let section = field.section else { return nil }
            section.allow(allowedHeaders.map(\.name))
            return section.fields.reduce(into: [:]) { headers, entry in
                let values = allowedHeaders.first { $0.name == entry.key }?.values ?? []
                headers[entry.key] =
                    Rule<String>.text { text in
                        if let problem = ValueRules.header(entry.key, text) { return problem }
                        if values.isEmpty || values.contains(text.lowercased()) { return nil }
                        return "must be \(values.joined(separator: " or "))."
                    }.read(entry)
            }
        }
    }

    /// Hashes of passwords by user name. A problem repeats neither.
    private static var passwordHashes: Rule<[String: String]> {
        Rule(print: { _ in "<secret>" }) { field in
            field.section?.fields.reduce(into: [:]) { users, entry in
                guard let problem = problem(ofUser: entry.key, entry.text) else { return users[entry.key] = entry.text }
                field.journal.report(problem, at: field.path, line: entry.line)
            }
        }
    }

    private static func problem(ofUser name: String, _ hash: String?) -> String? {
        if name.isEmpty || name.contains(":")
            || name.unicodeScalars.contains(where: { $0.properties.generalCategory == .control })
        {
            return "has a user name that is empty, or has a colon or a control character; choose another one."
        }
        guard let hash, let cost = Bcrypt.cost(of: hash) else {
            return "must map each user name to a bcrypt hash; write one with 'htpasswd -nB NAME'."
        }
        guard cost > Bcrypt.maximumCost else { return nil }
        return "has a hash of cost \(cost), whose check takes too long; use a cost of at most \(Bcrypt.maximumCost)."
    }
}
