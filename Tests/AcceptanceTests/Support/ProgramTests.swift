import Foundation
import Testing

@Suite struct ProgramTests {
    @Test func aMissingProgramFailsWithWhatToDo() throws {
        let failure = try #require(throws: AcceptanceError.self) { try Program.find("prometheus", in: "/nowhere") }
        #expect(
            failure.description
                == "prometheus is not installed; run scripts/setup, which installs what the tests need."
        )
        #expect(try Program.find("sh", in: "/nowhere:/bin").path == "/bin/sh")
    }
}
