import ArgumentParser

/// `--config`.
struct ConfigurationArguments: ParsableArguments {
    @Option(help: ArgumentHelp("The configuration file.", valueName: "file"))
    var config: String?

    var access: AgentAccess { AgentAccess(config: config) }
}

/// `--config`, `--socket` and `--json`.
struct AgentArguments: ParsableArguments {
    @OptionGroup var configuration: ConfigurationArguments

    @Option(
        help: ArgumentHelp(
            "The control socket of a running agent; by default the configured one.",
            valueName: "path"
        )
    )
    var socket: String?

    @OptionGroup var format: FormatArguments

    var access: AgentAccess { AgentAccess(config: configuration.config, socket: socket) }
}

/// `--json`.
struct FormatArguments: ParsableArguments {
    @Flag(help: "Print JSON.")
    var json = false

    func print<Value: Encodable>(_ value: Value, _ text: (Value) -> String) throws {
        Swift.print(try json ? JSONText.encode(value) : text(value))
    }
}
