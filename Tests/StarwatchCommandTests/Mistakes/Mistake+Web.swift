extension Mistake {
    /// Mistakes in a web configuration file. Their lines are those of that file.
    static let web: [Mistake] = [
        Mistake(
            "web missing",
            "http:\n  web_config_file: web.yml\n",
            [
                "starwatch.yaml:2: http.web_config_file: there is no file FOLDER/web.yml; create it or correct the path."
            ]
        ),
        Mistake(
            web: "writable",
            "basic_auth_users: {}\n",
            [": can be changed by other users; run 'chmod go-w FOLDER/web.yml'."],
            mode: 0o666
        ),
        Mistake(
            web: "list",
            "- tls_server_config\n",
            [":1: must have settings as \"section:\" with \"key: value\" lines below."]
        ),
        Mistake(
            web: "syntax",
            "tls_server_config: {\n",
            [":2: is not valid YAML: did not find expected node content (while parsing a flow node)."]
        ),
        Mistake(
            web: "typo",
            "tls_config: {}\nbasic_auth_user: {}\nurl: x\n",
            [
                ":1: tls_config: there is no such setting.",
                ":2: basic_auth_user: there is no such setting; did you mean \"basic_auth_users\"?",
                ":3: url: there is no such setting.",
            ]
        ),
        Mistake(
            web: "no certificate",
            "tls_server_config: {}\n",
            [":1: tls_server_config: needs cert_file; add it.", ":1: tls_server_config: needs key_file; add it."]
        ),
        Mistake(
            web: "key that others read",
            "tls_server_config:\n  cert_file: c\n  key_file: k\n",
            [
                ":3: tls_server_config.key_file: FOLDER/k can be read or changed by other users; run chmod 600 on it."
            ],
            with: [.file("c", "c", mode: 0o644), .file("k", "k", mode: 0o640)]
        ),
        Mistake(
            web: "no PEM",
            "tls_server_config:\n  cert_file: c\n  key_file: k\n",
            [": The file of cert_file has no certificates; it must be PEM, with BEGIN CERTIFICATE."],
            with: pair
        ),
        Mistake(
            web: "text in the file",
            "tls_server_config:\n  cert_file: c\n  key_file: k\n  cert: a\n  key: b\n  client_ca: c\n",
            [
                ":4: tls_server_config.cert: the certificate belongs into a file of its own; name that with cert_file.",
                ":5: tls_server_config.key: the key is a secret, which never belongs here; write it into a file, and name that with key_file.",
                ":6: tls_server_config.client_ca: the certificates belong into a file of their own; name that with client_ca_file.",
            ],
            with: pair
        ),
        Mistake(
            web: "old versions",
            "tls_server_config:\n  cert_file: c\n  key_file: k\n  min_version: TLS10\n  max_version: TLS11\n",
            [
                ":4: tls_server_config.min_version: TLS10 is not secure, and the agent never offers it; use TLS12 or TLS13.",
                ":5: tls_server_config.max_version: TLS11 is not secure, and the agent never offers it; use TLS12 or TLS13.",
            ],
            with: pair
        ),
        Mistake(
            web: "versions",
            "tls_server_config:\n  cert_file: c\n  key_file: k\n  min_version: TLS13\n  max_version: TLS12\n",
            [":5: tls_server_config.max_version: is below min_version; raise it, or leave it out."],
            with: pair
        ),
        Mistake(
            web: "client type",
            "tls_server_config: {cert_file: c, key_file: k, client_auth_type: mtls}\n",
            [
                ":1: tls_server_config.client_auth_type: must be one of NoClientCert, RequestClientCert, RequireAnyClientCert, VerifyClientCertIfGiven, RequireAndVerifyClientCert."
            ],
            with: pair
        ),
        Mistake(
            web: "client CA without a type",
            "tls_server_config: {cert_file: c, key_file: k, client_ca_file: c}\n",
            [
                ":1: tls_server_config.client_ca_file: is not used with this client_auth_type; set that to VerifyClientCertIfGiven or RequireAndVerifyClientCert."
            ],
            with: pair
        ),
        Mistake(
            web: "type without a client CA",
            "tls_server_config: {cert_file: c, key_file: k, client_auth_type: RequireAndVerifyClientCert}\n",
            [":1: tls_server_config.client_auth_type: RequireAndVerifyClientCert needs client_ca_file; add it."],
            with: pair
        ),
        Mistake(
            web: "names of clients that nobody verifies",
            "tls_server_config: {cert_file: c, key_file: k, client_allowed_sans: [a.test]}\n",
            [
                ":1: tls_server_config.client_allowed_sans: needs verified certificates; set client_auth_type to RequireAndVerifyClientCert."
            ],
            with: pair
        ),
        Mistake(
            web: "weak suite",
            "tls_server_config:\n  cert_file: c\n  key_file: k\n  cipher_suites: [TLS_RSA_WITH_AES_128_CBC_SHA]\n",
            [
                ":4: tls_server_config.cipher_suites: names a suite that the agent does not offer; use those of ECDHE with GCM or CHACHA20, such as TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256."
            ],
            with: pair
        ),
        Mistake(
            web: "no suite of TLS 1.2",
            "tls_server_config:\n  cert_file: c\n  key_file: k\n  cipher_suites: [TLS_AES_128_GCM_SHA256]\n",
            [
                ":4: tls_server_config.cipher_suites: names no suite of TLS 1.2; add one, or set min_version to TLS13."
            ],
            with: pair
        ),
        Mistake(
            web: "curve",
            "tls_server_config: {cert_file: c, key_file: k, curve_preferences: [P256]}\n",
            [
                ":1: tls_server_config.curve_preferences: must be a list of CurveP256, CurveP384, CurveP521, X25519, X25519MLKEM768."
            ],
            with: pair
        ),
        Mistake(
            web: "rate limit",
            "rate_limit:\n  burst: 2\n",
            [":1: rate_limit: the agent limits each client by itself, whatever this says; remove it."]
        ),
        Mistake(
            web: "headers",
            "http_server_config:\n  headers:\n    Server: x\n    X-Frame-Options: allow\n    X-XSS-Protection: \"a\\nb\"\n",
            [
                ":3: http_server_config.headers.Server: there is no such setting.",
                ":4: http_server_config.headers.X-Frame-Options: must be deny or sameorigin.",
                ":5: http_server_config.headers.X-XSS-Protection: must be printable ASCII.",
            ]
        ),
        Mistake(
            web: "clear password",
            "basic_auth_users:\n  prometheus: hunter2\n  \"a:b\": $2y$10$abcdefghijklmnopqrstuuqflPDzB6gcMhKa1rZqKiun2YGL5sa2u\n",
            [
                ":2: basic_auth_users: must map each user name to a bcrypt hash; write one with 'htpasswd -nB NAME'.",
                ":3: basic_auth_users: has a user name that is empty, or has a colon or a control character; choose another one.",
            ]
        ),
        Mistake(
            web: "costly hash",
            "basic_auth_users:\n  prometheus: $2y$15$abcdefghijklmnopqrstuuqflPDzB6gcMhKa1rZqKiun2YGL5sa2u\n",
            [
                ":2: basic_auth_users: has a hash of cost 15, whose check takes too long; use a cost of at most 14."
            ]
        ),
        Mistake(
            "users beside a token",
            "control:\n  listen: 127.0.0.1:9465\n  token_file: t\n  web_config_file: web.yml\n",
            [
                "starwatch.yaml:4: control.web_config_file: has basic_auth_users beside control.token_file; remove one of them."
            ],
            with: [
                .file("t", "a token of some length\n", mode: 0o600),
                .file("web.yml", "basic_auth_users: {a: \(hash)}\n", mode: 0o600),
            ]
        ),
        Mistake(
            "neither users nor a token",
            "control:\n  listen: 127.0.0.1:9465\n  web_config_file: web.yml\n",
            [
                "starwatch.yaml:3: control.web_config_file: has no basic_auth_users, and there is no control.token_file; add one of them."
            ],
            with: [.file("web.yml", "basic_auth_users: {}\n", mode: 0o600)]
        ),
    ]

    private static let hash = "$2y$10$abcdefghijklmnopqrstuuqflPDzB6gcMhKa1rZqKiun2YGL5sa2u"
    private static let pair: [Beside] = [.file("c", "c", mode: 0o644), .file("k", "k", mode: 0o600)]

    /// - Parameter lines: The lines after the names of both files.
    private init(web name: String, _ text: String, _ lines: [String], with others: [Beside] = [], mode: Int = 0o600) {
        self.init(
            "web " + name,
            "http:\n  web_config_file: web.yml\n",
            lines.map { "starwatch.yaml:2: FOLDER/web.yml" + $0 },
            with: others + [.file("web.yml", text, mode: mode)]
        )
    }
}
