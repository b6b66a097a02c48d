import Testing

/// The systemd unit. `scripts/test-package-systemd` runs it.
@Suite struct ServiceUnitTests {
    @Test func unitWritesNoCoreDumpAndLimitsMemory() throws {
        let lines = try Pages.text("systemd/starwatch.service").split(separator: "\n")
        #expect(lines.contains("LimitCORE=0"))
        for line in [
            "LimitNOFILE=65536", "Environment=SWIFT_BACKTRACE=enable=no", "MemorySwapMax=0",
            "MemoryDenyWriteExecute=yes",
        ] {
            #expect(lines.contains(Substring(line)))
        }
        let limit = try #require(lines.compactMap { $0.firstMatch(of: /^MemoryMax=(\d+)M$/) }.first)
        // The measured peak is 250 MB, with 1,000 polls.
        #expect((400...1_024).contains(Int(limit.1) ?? 0))
    }
}
