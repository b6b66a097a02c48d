import StarwatchHTTP

@testable import StarwatchCommand

extension FuzzTarget {
    /// A file is taken or refused, and a refusal is one sentence for each thing that is wrong, with a line of the file.
    static let configuration = FuzzTarget(
        name: "configuration",
        words: [
            "\n", "\n  ", ": ", "- ", "[", "]", "{", "}", "&a", "*a", "<<: ", "!!int ", "|\n", ">\n", "---\n", "...\n",
            "#", "'",
            "\"", "null", "~", "1e999", "9223372036854775808", "server:", "polls:", "kind: ", "schedule: ", "every: ",
            "timezone: ", "url: ", "listen: ", "sinks:", "\u{85}", "\u{feff}", "\t",
        ],
        tries: 1500
    ) { input in
        let text = input.text
        let loader = ConfigurationLoader(environment: [:], workingDirectory: "/nonexistent")
        do throws(ConfigurationFailure) {
            let configuration = try loader.load(text: text, file: "f.yaml", directory: "/nonexistent")
            let printed = ConfigurationPrinter.yaml(configuration)
            return printed.isEmpty ? "nothing to print" : nil
        } catch {
            return problem(of: error, text)
        }
    }

    /// A web configuration is taken or refused as above, never repeats a hash, and has only what can be obeyed.
    static let webConfiguration = FuzzTarget(
        name: "web-configuration",
        words: [
            "\n", "\n  ", ": ", "[", "]", "{", "}", "&a", "*a", "#", "'", "null", "tls_server_config:",
            "cert_file: /etc/passwd", "client_ca_file: /etc/passwd",
            "key_file: x", "client_auth_type: ", "RequireAndVerifyClientCert", "min_version: ", "TLS13",
            "TLS10", "cipher_suites: ", "TLS_AES_128_GCM_SHA256", "curve_preferences: ", "X25519", "http2: ",
            "headers: ",
            "X-Frame-Options: ", "basic_auth_users:", "$2b$10$", "$2y$99$",
        ],
        tries: 1500
    ) { input in
        let text = input.text
        // Without secrets, so that the key need not exist; a certificate must.
        let loader = ConfigurationLoader(environment: [:], workingDirectory: "/nonexistent", checksSecrets: false)
        do throws(ConfigurationFailure) {
            let web = try loader.loadWebConfiguration(text: text, file: "web.yml", directory: "/nonexistent")
            if web.tls?.problem != nil { return "settings that contradict each other" }
            for (user, hash) in web.users {
                if user.isEmpty || user.contains(":") { return "a user that cannot sign in" }
                guard let cost = Bcrypt.cost(of: hash), cost <= Bcrypt.maximumCost else { return "no good hash" }
            }
            return nil
        } catch {
            if error.problems.contains(where: { $0.message.contains("abcdefghijklmnopqrstuu2r9") }) {
                return "a hash is repeated"
            }
            return problem(of: error, text)
        }
    }

    private static func problem(of failure: ConfigurationFailure, _ text: String) -> String? {
        if failure.problems.isEmpty { return "refused for nothing" }
        let lines = text.utf8.count { $0 == 10 || $0 == 13 || $0 > 127 } + 2
        for problem in failure.problems {
            if problem.message.isEmpty || problem.message.contains("\n") { return "not one sentence" }
            if let line = problem.line, !(1...lines).contains(line) { return "line \(line) is not in the file" }
        }
        return nil
    }
}
