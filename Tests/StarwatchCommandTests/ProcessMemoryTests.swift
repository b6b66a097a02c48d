import Testing

@testable import StarwatchCommand

@Suite struct ProcessMemoryTests {
    @Test func otherProcessesCannotReadTheMemory() {
        ProcessMemory.hide()
        #expect(ProcessMemory.isHidden)
    }
}
