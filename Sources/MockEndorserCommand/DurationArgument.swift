import ArgumentParser

/// A duration on the command line: a number with `ms`, `s`, `m` or `h`, optionally with a minus sign.
struct DurationArgument: ExpressibleByArgument {
    let value: Duration

    init(value: Duration) {
        self.value = value
    }

    init?(argument: String) {
        let units: [(String, Double)] = [("ms", 0.001), ("s", 1), ("m", 60), ("h", 3600)]
        guard let unit = units.first(where: { argument.hasSuffix($0.0) }),
            let number = Double(argument.dropLast(unit.0.count)), number.isFinite
        else { return nil }
        value = .seconds(number * unit.1)
    }

    var defaultValueDescription: String { "\(value.components.seconds)s" }
}
