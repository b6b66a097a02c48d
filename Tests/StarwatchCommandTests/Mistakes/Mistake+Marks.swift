extension Mistake {
    /// Quotes, commas, colons, spaces and marks that look like others.
    static let marks: [Mistake] = [
        Mistake(
            "quote that the next one closes",
            "server:\n  user_agent: \"x\nlog:\n  level: \"info\"\n",
            ["starwatch.yaml:2: opens a quote and does not close it; add the other quote."]
        ),
        Mistake(
            "unclosed quote of a schedule",
            "polls:\n  p:\n    kind: starred_projects\n    schedule: \"*/15 * * * *\n    splay: 1m\nlog: {level: info}\n",
            ["starwatch.yaml:4: opens a quote and does not close it; add the other quote."]
        ),
        Mistake(
            "apostrophe in single quotes",
            "server:\n  user_agent: 'it's me'\n",
            ["starwatch.yaml:2: has an apostrophe in single quotes; use double quotes."]
        ),
        Mistake(
            "unquoted template",
            "digests:\n  d:\n    times: [\"08:00\"]\n    fetch: {url: \"https://a.test\"}\n    body: {{count}} changes\n",
            ["starwatch.yaml:5: has a value that begins with {; quote the value of body."]
        ),
        Mistake(
            "unquoted variable alone",
            "digests:\n  d:\n    times: [\"08:00\"]\n    fetch: {url: \"https://a.test\"}\n    body: {{count}}\n",
            [
                "starwatch.yaml:5: digests.d.body: begins with {{, which YAML reads as a mapping; put the value in quotes."
            ]
        ),
        Mistake(
            "no-break space after a colon",
            "server:\n  url:\u{A0}https://a.test\n",
            [
                "starwatch.yaml:2: server: has a no-break space or another invisible character; type it again with plain spaces."
            ]
        ),
        Mistake(
            "no-break spaces as indentation",
            "server:\n\u{A0}\u{A0}url: https://a.test\n",
            [
                "starwatch.yaml:2: \u{A0}\u{A0}url: has a no-break space or another invisible character; type it again with plain spaces."
            ]
        ),
        Mistake(
            "no-break space at the end",
            "server:\n  timeout: 30s\u{A0}\n",
            [
                "starwatch.yaml:2: server.timeout: has a no-break space or another invisible character; type it again with plain spaces."
            ]
        ),
        Mistake(
            "key without a colon, alone",
            "server:\n  url https://a.test\n",
            ["starwatch.yaml:2: server: needs a colon after \"url\"."]
        ),
        Mistake(
            "key without a colon, first",
            "server:\n  url https://a.test\n  timeout: 30s\n",
            ["starwatch.yaml:2: needs a colon after \"url\"."]
        ),
        Mistake(
            "key without a colon, last",
            "server:\n  timeout: 30s\n  url https://a.test\n",
            ["starwatch.yaml:3: needs a colon after \"url\"."]
        ),
        Mistake(
            "space after a comma of a schedule",
            "polls:\n  p:\n    kind: starred_projects\n    schedule: \"0, 30 * * * *\"\n",
            ["starwatch.yaml:4: polls.p.schedule: has a space beside a comma; write \"0,30 * * * *\"."]
        ),
        Mistake(
            "sink as a word",
            "delivery:\n  sinks: [phone]\n",
            ["starwatch.yaml:2: delivery.sinks[0]: must have a name and a kind, such as {name: log, kind: log}."]
        ),
        Mistake(
            "digest's sinks as a word",
            "digests:\n  d:\n    times: [\"08:00\"]\n    fetch: {url: \"https://a.test\"}\n    sinks: phone\n",
            ["starwatch.yaml:5: digests.d.sinks: must be a list, such as [a, b]."]
        ),
        Mistake(
            "JSON without a comma",
            "{\n  \"server\": {\n    \"url\": \"https://a.test\"\n    \"timeout\": \"30s\"\n  }\n}\n",
            ["starwatch.yaml:3: has no comma at its end; add one."]
        ),
        Mistake(
            "JSON without a comma between sections",
            "{\n  \"server\": {\"url\": \"https://a.test\"}\n  \"log\": {\"level\": \"info\"}\n}\n",
            ["starwatch.yaml:2: has no comma at its end; add one."]
        ),
        Mistake(
            "typographic quotes",
            "server:\n  url: “https://a.test”\n",
            ["starwatch.yaml:2: server.url: is in typographic quotes; write straight ones: \"…\"."]
        ),
        Mistake(
            "typographic quotes around a schedule",
            "polls:\n  p:\n    kind: starred_projects\n    schedule: “*/15 * * * *”\n",
            ["starwatch.yaml:4: polls.p.schedule: is in typographic quotes; write straight ones: \"…\"."]
        ),
        Mistake(
            "dash in place of a hyphen",
            "server:\n  timeout: –30s\n",
            ["starwatch.yaml:2: server.timeout: begins with a dash that is no hyphen; type it again."]
        ),
        Mistake(
            "two commas",
            "delivery:\n  sinks: [{name: log, kind: log},, {name: f, kind: stdout}]\n",
            ["starwatch.yaml:2: has a comma too many; remove it."]
        ),
        Mistake(
            "equals sign with spaces",
            "server:\n  url = https://a.test\n",
            ["starwatch.yaml:2: server: needs a colon and a space after \"url\", in place of =."]
        ),
        Mistake(
            "equals sign",
            "server:\n  url=https://a.test\n",
            ["starwatch.yaml:2: server: needs a colon and a space after \"url\", in place of =."]
        ),
        Mistake(
            "two colons",
            "server:\n  url:: https://a.test\n",
            ["starwatch.yaml:2: server.url:: there is no such setting; did you mean \"url\"?"]
        ),
        Mistake(
            "semicolon at the end",
            "log:\n  level: info;\n",
            [
                "starwatch.yaml:2: log.level: must be one of trace, debug, info, notice, warning, error, critical; did you mean \"info\"?"
            ]
        ),
        Mistake(
            "comma at the end",
            "log:\n  level: info,\n",
            [
                "starwatch.yaml:2: log.level: must be one of trace, debug, info, notice, warning, error, critical; did you mean \"info\"?"
            ]
        ),
        Mistake(
            "comment of C",
            "// my config\nlog:\n  level: info\n",
            ["starwatch.yaml:1: is no comment; a comment begins with #."]
        ),
        Mistake(
            "comment of INI",
            "; my config\nlog:\n  level: info\n",
            ["starwatch.yaml:1: is no comment; a comment begins with #."]
        ),
        Mistake(
            "URL as a block",
            "server:\n  url: |\n    https://a.test\n",
            ["starwatch.yaml:2: server.url: must be a URL such as https://example.org."]
        ),
        Mistake(
            "polls as a list",
            "polls:\n  - starred_projects\n",
            ["starwatch.yaml:1: polls: must be a section with a name for each of them, such as \"mine:\", and no list."]
        ),
        Mistake(
            "sinks as a section",
            "delivery:\n  sinks:\n    log:\n      kind: log\n",
            [
                "starwatch.yaml:2: delivery.sinks: must be a list of sinks; begin each with \"- name: NAME\" and \"kind: KIND\" below it."
            ]
        ),
        Mistake(
            "sink without a dash",
            "delivery:\n  sinks:\n    name: log\n    kind: log\n",
            [
                "starwatch.yaml:2: delivery.sinks: must be a list of sinks; begin each with \"- name: NAME\" and \"kind: KIND\" below it."
            ]
        ),
        Mistake(
            "item without a dash",
            "polls:\n  starred_projects:\n    plan_ids:\n      https://endorser.ch/entity/01JWMCKG0022HDXJ4G4Q61XV37\n",
            ["starwatch.yaml:3: polls.starred_projects.plan_ids: must be a list, such as [a, b]."]
        ),
        Mistake(
            "item without a space",
            "polls:\n  starred_projects:\n    plan_ids:\n      -https://endorser.ch/entity/01JWMCKG0022HDXJ4G4Q61XV37\n",
            ["starwatch.yaml:3: polls.starred_projects.plan_ids: needs a space after each -."]
        ),
        Mistake(
            "merge conflict",
            "<<<<<<< HEAD\nlog:\n  level: info\n=======\n",
            ["starwatch.yaml:1: is a mark of a merge conflict; keep one side, and remove the marks."]
        ),
        Mistake(
            "lines of a patch",
            "+log:\n+  level: info\n",
            [
                "starwatch.yaml:1: +log: there is no such setting; did you mean \"log\"?",
                "starwatch.yaml:2: +  level: there is no such setting.",
            ]
        ),
        Mistake(
            "page of a proxy in place of the file",
            "<!DOCTYPE html>\n<html></html>\n",
            ["starwatch.yaml:1: must have settings as \"section:\" with \"key: value\" lines below."]
        ),
        Mistake(
            "heartbeat as a URL",
            "callbacks:\n  heartbeat: https://a.test\n",
            ["starwatch.yaml:2: callbacks.heartbeat: must be a section: settings as \"key: value\" below it."]
        ),
        Mistake(
            "canary as a flag",
            "canary: true\n",
            ["starwatch.yaml:1: canary: must be a section: settings as \"key: value\" below it."]
        ),
        Mistake(
            "decimal comma",
            "outbox:\n  backpressure_threshold: 0,8\n",
            ["starwatch.yaml:2: outbox.backpressure_threshold: must be a number between 0 and 1."]
        ),
    ]
}
