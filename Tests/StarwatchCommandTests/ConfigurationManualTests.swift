import Foundation
import Testing

@testable import StarwatchCommand

@Suite struct ConfigurationManualTests {
    @Test func theManualHasEverySettingOfTheReference() {
        let lines = ConfigurationReference.manual.split(separator: "\n").map(String.init)
        for row in ConfigurationReference.settings {
            let index = lines.firstIndex(of: ".B " + ConfigurationReference.escaped(row.path))
            #expect(index != nil, "\(row.path)")
            guard let index, let value = row.value, !value.isEmpty else { continue }
            #expect(lines[index + 1].hasSuffix(ConfigurationReference.escaped("Default: \(value).")), "\(row.path)")
        }
    }

    @Test func roffSeesNoRequestInAText() {
        #expect(ConfigurationReference.escaped(".x") == "\\&.x")
        #expect(ConfigurationReference.escaped("'a'") == "\\&'a'")
        #expect(ConfigurationReference.escaped("a\\b-c") == "a\\eb\\-c")
    }
}
