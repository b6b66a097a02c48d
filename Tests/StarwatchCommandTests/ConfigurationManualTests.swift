import Foundation
import Testing

@testable import StarwatchCommand

@Suite struct ConfigurationManualTests {
    @Test func theManualHasEverySettingOfTheReference() {
        let lines = ConfigurationManual.text.split(separator: "\n").map(String.init)
        for row in ConfigurationReference.settings {
            let index = lines.firstIndex(of: ".B " + ConfigurationManual.escaped(row.path))
            #expect(index != nil, "\(row.path)")
            guard let index, let value = row.value, !value.isEmpty else { continue }
            #expect(lines[index + 1].hasSuffix(ConfigurationManual.escaped("Default: \(value).")), "\(row.path)")
        }
    }

    @Test func roffSeesNoRequestInAText() {
        #expect(ConfigurationManual.escaped(".x") == "\\&.x")
        #expect(ConfigurationManual.escaped("'a'") == "\\&'a'")
        #expect(ConfigurationManual.escaped("a\\b-c") == "a\\eb\\-c")
    }
}
