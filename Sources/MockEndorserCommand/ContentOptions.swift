import ArgumentParser
import Foundation
import MockEndorser

/// The options for plans, changes and offers.
struct ContentOptions: ParsableArguments {
    @Option(help: "Number of plans in the catalogue.")
    var plans = 20

    @Option(help: "Number of changes published at start.")
    var changes = 0

    @Option(help: "Period before the start over which these changes are spread, such as 24h.")
    var changesOver = DurationArgument(value: .zero)

    @Option(help: "Interval for publishing further changes, such as 2s or 500ms.")
    var changesEvery: DurationArgument?

    @Option(help: "Number of changes per interval.")
    var burst = 1

    @Option(help: "The DID that owns every second plan and receives the offers.")
    var owner: String?

    @Option(help: ArgumentHelp("A list of another API, as JSON; can be repeated.", valueName: "file"))
    var json: [String] = []

    @Option(help: "The generator's seed.")
    var seed: UInt64 = 1

    func validate() throws {
        guard plans >= 0, changes >= 0, burst >= 1 else {
            throw ValidationError("--plans and --changes must be 0 or more, --burst 1 or more.")
        }
        if let interval = changesEvery?.value, interval <= .zero {
            throw ValidationError("--changes-every must be greater than 0.")
        }
    }

    /// - Throws: `ValidationError` for a file that cannot be read, or is no list.
    func apply(to options: inout MockServerOptions) throws {
        options.planCount = plans
        options.history.changes = changes
        options.history.span = changesOver.value
        options.generator.ownerDID = owner
        options.generator.seed = seed
        options.lists = try json.map { file in
            guard let content = FileManager.default.contents(atPath: file) else {
                throw ValidationError("--json \(file) cannot be read; correct its path or mode.")
            }
            do { return try MockList(json: content) } catch {
                throw ValidationError("--json \(file) must have a path and items, as in Examples/Lists.")
            }
        }
    }
}

/// A duration on the command line: a number with `ms`, `s`, `m` or `h`, optionally with a minus sign.
struct DurationArgument: ExpressibleByArgument {
    let value: Duration

    init(value: Duration) { self.value = value }

    init?(argument: String) {
        let units: [(String, Double)] = [("ms", 0.001), ("s", 1), ("m", 60), ("h", 3600)]
        guard let unit = units.first(where: { argument.hasSuffix($0.0) }),
            let number = Double(argument.dropLast(unit.0.count)), number.isFinite
        else { return nil }
        value = .seconds(number * unit.1)
    }

    var defaultValueDescription: String { "\(value.components.seconds)s" }
}
