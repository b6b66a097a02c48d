extension Mistake {
    /// Mistakes in the body of a webhook. Their lines are those of that file.
    static let bodies: [Mistake] = [
        Mistake(
            body: "missing file",
            [
                "starwatch.yaml:5: delivery.sinks[0].body_file: there is no file FOLDER/body.json; create it or correct the path."
            ]
        ),
        Mistake(
            body: "readable by others",
            [
                "starwatch.yaml:5: delivery.sinks[0].body_file: FOLDER/body.json can be read or changed by other users; run chmod 600 on it."
            ],
            of: "{}",
            mode: 0o644
        ),
        Mistake(
            body: "empty",
            [
                "starwatch.yaml:5: delivery.sinks[0].body_file: FOLDER/body.json is empty; write the content or correct the path."
            ],
            of: ""
        ),
        Mistake(
            body: "comma at the end",
            [line(3, "is not JSON; check the commas, quotes and brackets of this line and the one before.")],
            of: "{\n  \"text\": \"{{title}}\",\n}\n"
        ),
        Mistake(
            body: "field without quotes",
            [line(2, "has a field without quotes; write \"{{count}}\", which becomes a number by itself.")],
            of: "{\n  \"count\": {{count}}\n}\n"
        ),
        Mistake(
            body: "misspelt field",
            [line(3, "has the unknown field {{colapse_key}}; did you mean {{collapse_key}}?")],
            of: "{\n  \"text\": \"{{title}}\",\n  \"key\": \"{{colapse_key}}\"\n}\n"
        ),
        Mistake(
            body: "field of another program",
            [line(1, "has the unknown field {{.title}}; did you mean {{title}}?")],
            of: "{\"text\": \"{{ .title }}\"}\n"
        ),
        Mistake(
            body: "function of another program",
            [
                line(
                    1,
                    "has the unknown field {{range changes}}; use one such as {{title}} or {{changes.0.name}}."
                )
            ],
            of: "{\"text\": \"{{ range changes }}\"}\n"
        ),
        Mistake(
            body: "field that does not end",
            [line(1, "has {{ without }}; end the field with }}.")],
            of: "{\"text\": \"{{title}\"}\n"
        ),
        Mistake(
            body: "field in a name",
            [line(1, "has a field in the name of a member; only values can have fields.")],
            of: "{\"{{poll}}\": 1}\n"
        ),
        Mistake(
            body: "field that needs a setting",
            [line(2, "has {{account_did}}, which needs include_account: true; add that to the sink.")],
            of: "[1,\n\"{{account_did}}\"]\n"
        ),
        Mistake(
            body: "too large",
            ["starwatch.yaml:5: FOLDER/body.json: is larger than 64KiB; shorten it."],
            of: "\"" + String(repeating: "x", count: 65_536) + "\""
        ),
        Mistake(
            "body and format",
            "delivery:\n  sinks:\n    - name: room\n      kind: webhook\n      body_file: body.json\n      format: apprise\n      url: https://a.test/notify/k\n",
            ["starwatch.yaml:5: delivery.sinks[0].body_file: and format are both set; remove one."],
            with: [.file("body.json", "{}", mode: 0o600)]
        ),
        Mistake(
            "body of a topic",
            "delivery:\n  sinks:\n    - {name: n, kind: ntfy, url: https://n.test, topic: t, body_file: body.json}\n",
            [
                "starwatch.yaml:3: delivery.sinks[0].body_file: only a sink of kind webhook has this setting, and this one is of kind ntfy; remove it."
            ]
        ),
    ]

    private static func line(_ number: Int, _ message: String) -> String {
        "starwatch.yaml:5: FOLDER/body.json:\(number): \(message)"
    }

    /// - Parameter text: The content of the file; `nil` for none.
    private init(body name: String, _ lines: [String], of text: String? = nil, mode: Int = 0o600) {
        self.init(
            "body: " + name,
            "delivery:\n  sinks:\n    - name: hook\n      kind: webhook\n      body_file: body.json\n      url: https://a.test/\n",
            lines,
            with: text.map { [.file("body.json", $0, mode: mode)] } ?? []
        )
    }
}
