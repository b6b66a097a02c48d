import Testing

@testable import StarwatchCore

@Suite struct SecretAccessTests {
    private static let (image, stranger, group): (UInt32, UInt32, UInt32) = (65_532, 1000, 65_532)

    private func problem(
        _ owner: UInt32,
        _ mode: UInt32,
        group: UInt32 = group,
        for user: UInt32 = image,
        isCredential: Bool = false,
        isPrivate: Bool = false
    ) -> FileAccess.Fault? {
        let file = FileAccess(owner: owner, mode: mode)
        let access = SecretAccess(file: file, group: group, isCredential: isCredential)
        return access.problem(for: user, in: [Self.group]) { isPrivate }
    }

    @Test(arguments: [0o400, 0o440, 0o640] as [UInt32])
    func aFileOfRootThatTheAgentsGroupReadsIsGood(mode: UInt32) {
        #expect(problem(0, mode) == nil)
        // Root checks the files of a service.
        #expect(problem(0, mode, for: 0) == nil)
    }

    @Test func otherModesOfRootsFilesNeedAMountOfTheContainer() {
        #expect(problem(0, 0o440, group: 4) == .foreignMode)
        for mode: UInt32 in [0o444, 0o644, 0o604] {
            #expect(problem(0, mode) == .foreignMode, "\(mode)")
            #expect(problem(0, mode, isCredential: true) == .foreignMode, "\(mode)")
            #expect(problem(0, mode, isPrivate: true) == nil, "\(mode)")
            #expect(problem(0, mode, isCredential: true, isPrivate: true) == nil, "\(mode)")
        }
        for mode: UInt32 in [0o660, 0o620, 0o646, 0o622] {
            #expect(problem(0, mode, isPrivate: true) == .foreignMode, "\(mode)")
        }
    }

    @Test(arguments: [0o640, 0o604, 0o644, 0o620, 0o602, 0o660, 0o610] as [UInt32])
    func whatItsReaderCanCloseIsToBeClosed(mode: UInt32) {
        #expect(problem(Self.image, mode, isPrivate: true) == .mode)
        #expect(problem(0, mode, group: 0, for: 0) == .mode)
    }

    @Test func aFileOfAnotherUserIsGoodForRootAlone() {
        #expect(problem(Self.stranger, 0o400) == .owner)
        #expect(problem(Self.stranger, 0o444, isPrivate: true) == .owner)
        #expect(problem(Self.stranger, 0o400, for: 0) == nil)
        #expect(problem(Self.stranger, 0o440, for: 0) == .mode)
    }
}

/// Tables of mounts as `/proc/PID/mountinfo` had them, shortened.
@Suite struct MountTests {
    private static let docker = """
        700 600 0:60 / / rw,relatime master:1 - overlay overlay rw,lowerdir=/l,upperdir=/u
        701 700 0:63 / /proc rw,nosuid - proc proc rw
        702 700 0:64 / /dev rw,nosuid - tmpfs tmpfs rw,size=65536k
        703 702 0:65 / /dev/shm rw,nosuid - tmpfs shm rw
        704 700 8:1 /var/lib/docker/containers/a/hosts /etc/hosts rw,relatime - ext4 /dev/sda1 rw
        705 700 8:1 /srv/secrets /secrets ro,relatime - ext4 /dev/sda1 rw
        706 700 0:66 /token /run/secrets/token ro,relatime - tmpfs tmpfs rw
        707 700 8:1 /home/me /data rw,relatime - ext4 /dev/sda1 rw
        708 700 0:67 / /run/kube rw,relatime shared:4 master:2 - tmpfs tmpfs rw
        709 700 0:60 /usr /usr ro,relatime - overlay overlay rw
        """
    private static let machine = """
        21 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
        25 21 0:22 / /run rw,nosuid shared:5 - tmpfs tmpfs rw
        26 21 8:2 / /mnt ro,relatime shared:9 - ext4 /dev/sdb1 ro
        27 21 0:40 / /srv/vault ro,relatime - tmpfs tmpfs rw
        """
    /// Of a service with mounts of its own.
    private static let service = """
        80 70 8:1 / / ro,relatime - ext4 /dev/sda1 rw
        81 80 8:1 /etc /etc ro,relatime - ext4 /dev/sda1 rw
        82 80 0:22 / /run ro,nosuid - tmpfs tmpfs rw
        83 80 0:50 / /secrets rw,relatime - tmpfs tmpfs rw
        """

    private func isPrivate(_ path: String, in table: String, first: String, isContainer: Bool) -> Bool? {
        Mount.holding(path, among: Mount.all(in: table))?.isPrivate(
            isFile: path == "/run/secrets/token" || path == "/etc/hosts",
            first: Mount.all(in: first),
            isContainer: isContainer
        )
    }

    @Test func aLineIsTakenApart() throws {
        let mount = try #require(Mount("708 700 0:67 /root /run/kube rw,relatime shared:4 master:2 - tmpfs tmpfs rw"))
        #expect(mount.id == 708 && mount.device == "0:67" && mount.path == "/run/kube" && mount.kind == "tmpfs")
        #expect(!mount.isReadOnly)
        for line in ["", "a b c", "1 2 0:1 / /x rw - ", "x 2 0:1 / /x rw - tmpfs t rw"] { #expect(Mount(line) == nil) }
    }

    @Test func theLastOfTheDeepestMountsHasTheFile() {
        let mounts = Mount.all(in: Self.docker + "\n710 705 0:70 / /secrets rw - tmpfs tmpfs rw")
        #expect(Mount.holding("/secrets/a", among: mounts)?.id == 710)
        #expect(Mount.holding("/secretsandmore", among: mounts)?.id == 700)
        #expect(Mount.holding("/run/secrets/token", among: mounts)?.id == 706)
        #expect(Mount.holding("/x", among: []) == nil)
    }

    @Test(
        arguments: [
            ("/run/secrets/token", true), ("/run/kube/..data/token", true), ("/secrets/token", false),
            ("/etc/token", false), ("/usr/token", false), ("/dev/shm/token", false), ("/data/token", false),
        ]
    )
    func aContainerHasWhatItsRuntimeMounts(path: String, isGood: Bool) {
        #expect(isPrivate(path, in: Self.docker, first: Self.docker, isContainer: true) == isGood)
        // The same mounts are no secret of one among the programs of a machine.
        #expect(isPrivate(path, in: Self.docker, first: Self.docker, isContainer: false) == false)
        // Process 1 can be hidden.
        #expect(isPrivate(path, in: Self.docker, first: "", isContainer: true) == false)
    }

    @Test(arguments: ["/run/token", "/mnt/token", "/srv/vault/token", "/etc/token"])
    func aMachineHasNoPrivateMount(path: String) {
        #expect(isPrivate(path, in: Self.machine, first: Self.machine, isContainer: false) == false)
    }

    @Test(arguments: [("/etc/token", false), ("/run/token", false), ("/secrets/token", true)], [true, false])
    func aServiceSeesAloneWhatIsNotOfTheMachine(_ file: (String, Bool), isContainer: Bool) {
        // In a container that is a whole machine, process 1 is that machine's.
        let found = isPrivate(file.0, in: Self.service, first: Self.machine, isContainer: isContainer)
        #expect(found == file.1)
    }
}
