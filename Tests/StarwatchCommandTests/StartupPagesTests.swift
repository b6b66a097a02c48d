import Foundation
import Testing

@testable import StarwatchCommand

@Suite struct StartupPagesTests {
    private static let maps = """
        55d0c0000000-55d0c0001000 r--p 00000000 fe:00 12           /usr/bin/starwatch
        Anonymous:             0 kB
        55d0c0001000-55d0c0003000 r-xp 00001000 fe:00 12           /usr/bin/starwatch
        Size:                  8 kB
        Anonymous:             0 kB
        VmFlags: rd ex mr mw me
        55d0c0003000-55d0c0004000 r--p 00003000 fe:00 12           /usr/bin/starwatch
        Anonymous:             4 kB
        55d0c0004000-55d0c0005000 rw-p 00004000 fe:00 12           /usr/bin/starwatch
        Anonymous:             0 kB
        55d0c0006000-55d0c0007000 r--p 00000000 fe:00 14           /etc/ld.so.cache
        Anonymous:             0 kB
        55d0c0007000-55d0c0008000 r-xp 00000000 fe:00 15           /usr/lib/a library.so (deleted)
        Anonymous:             0 kB
        55d0c0005000-55d0c0006000 r--s 00004000 fe:00 13           /var/lib/starwatch/starwatch.db-shm
        Anonymous:             0 kB
        7fff00000000-7fff00001000 r-xp 00000000 00:00 0           [vdso]
        Anonymous:             0 kB
        7fff00002000-7fff00003000 r--p 00000000 00:00 0
        Anonymous:             0 kB
        """

    @Test func onlyUnchangedReadOnlyPagesOfFilesAreReleased() {
        let ranges = ProcessMemory.unchanged(in: Self.maps)
        #expect(
            ranges == [
                0x55d0_c000_0000..<0x55d0_c000_1000, 0x55d0_c000_1000..<0x55d0_c000_3000,
                0x55d0_c000_7000..<0x55d0_c000_8000,
            ]
        )
    }

    /// In a process of its own: the pages are those of all tests, and other tests map and unmap meanwhile.
    @Test func theProgramWorksWithoutThem() async {
        await #expect(processExitsWith: .success) {
            let maps = try #require(FileManager.default.contents(atPath: "/proc/self/smaps"))
            try #require(!ProcessMemory.unchanged(in: String(decoding: maps, as: UTF8.self)).isEmpty)
            await ProcessMemory.releaseStartupPages(after: .zero)
            let numbers = (1...1000).map { "\($0)" }
            try #require(numbers.sorted().first == "1")
        }
    }
}
