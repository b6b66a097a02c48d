import GRDBSQLite
import Glibc
import Synchronization

/// File system for SQLite that keeps the databases of simulations in memory, and passes other files to the system.
///
/// A simulated disk costs no system call, and loses the same data as a real disk. Several processes can open a database, and
/// lock it as on a real disk.
enum MemoryVFS {
    /// Disks of the running simulations, by folder.
    private static let disks = Mutex<[String: SimulatedDisk]>([:])

    /// Makes it SQLite's default file system.
    static func install() { _ = isInstalled }

    /// Sends accesses to the disk's folder to `disk`.
    static func add(_ disk: SimulatedDisk) { disks.withLock { $0[disk.root] = disk } }

    static func remove(_ disk: SimulatedDisk) { disks.withLock { $0[disk.root] = nil } }

    /// Returns the disk and the path of the file `name`; `nil` for a file of the system.
    private static func place(of name: UnsafePointer<CChar>?) -> (disk: SimulatedDisk, path: String)? {
        guard let name else { return nil }
        let path = String(cString: name)
        let folder = path.lastIndex(of: "/").map { String(path[..<$0]) } ?? ""
        return disks.withLock { $0[folder] }.map { ($0, path) }
    }

    // MARK: - The file system

    nonisolated(unsafe) private static let system: UnsafeMutablePointer<sqlite3_vfs> = sqlite3_vfs_find(nil)

    private static let isInstalled: Bool = {
        let own = UnsafeMutablePointer<sqlite3_vfs>.allocate(capacity: 1)
        own.initialize(to: system.pointee)
        own.pointee.pNext = nil
        own.pointee.zName = UnsafePointer(strdup("starwatch-simulation"))
        own.pointee.szOsFile = max(system.pointee.szOsFile, Int32(MemoryLayout<OpenFile>.size))
        own.pointee.xOpen = { _, name, target, flags, outFlags in
            guard let (disk, path) = place(of: name), let target else {
                return system.pointee.xOpen(system, name, target, flags, outFlags)
            }
            target.pointee.pMethods = nil
            guard flags & SQLITE_OPEN_CREATE != 0 || disk.file(at: path) != nil else { return SQLITE_CANTOPEN }
            UnsafeMutableRawPointer(target).initializeMemory(
                as: OpenFile.self,
                to: OpenFile(
                    methods: methods,
                    file: Unmanaged.passRetained(disk.makeFile(at: path)),
                    holder: FileLocks.Holder(process: disk.process(of: path), connection: disk.nextConnection())
                )
            )
            outFlags?.pointee = flags
            return SQLITE_OK
        }
        own.pointee.xDelete = { _, name, sync in
            guard let (disk, path) = place(of: name) else { return system.pointee.xDelete(system, name, sync) }
            disk.removeFile(at: path)
            return SQLITE_OK
        }
        own.pointee.xAccess = { _, name, flags, result in
            guard let (disk, path) = place(of: name) else {
                return system.pointee.xAccess(system, name, flags, result)
            }
            result?.pointee = disk.file(at: path) == nil ? 0 : 1
            return SQLITE_OK
        }
        return sqlite3_vfs_register(own, 1) == SQLITE_OK
    }()

    // MARK: - An open file

    /// Memory layout of SQLite's `sqlite3_file`, followed by the file.
    private struct OpenFile {
        var methods: UnsafePointer<sqlite3_io_methods>?
        var file: Unmanaged<MemoryFile>
        let holder: FileLocks.Holder
        var usesIndex = false
    }

    private static func open(_ file: UnsafeMutablePointer<sqlite3_file>?) -> UnsafeMutablePointer<OpenFile> {
        UnsafeMutableRawPointer(file!).assumingMemoryBound(to: OpenFile.self)
    }

    private static func memory(_ file: UnsafeMutablePointer<sqlite3_file>?) -> MemoryFile {
        open(file).pointee.file.takeUnretainedValue()
    }

    /// Returns the result of `body`, unless the disk fails.
    private static func tried(
        _ file: UnsafeMutablePointer<sqlite3_file>?,
        _ access: SimulatedDisk.Access,
        _ body: (MemoryFile) -> Int32
    ) -> Int32 {
        let memory = memory(file)
        switch memory.disk.failure(access, of: open(file).pointee.holder.process) {
        case nil: return body(memory)
        case .full: return SQLITE_FULL
        case .broken: return SQLITE_IOERR
        }
    }

    /// Never freed, because SQLite reads it as long as a file is open.
    nonisolated(unsafe) private static let methods: UnsafePointer<sqlite3_io_methods> = {
        var methods = sqlite3_io_methods()
        methods.iVersion = 2
        setContentMethods(of: &methods)
        setLockMethods(of: &methods)
        let stored = UnsafeMutablePointer<sqlite3_io_methods>.allocate(capacity: 1)
        stored.initialize(to: methods)
        return UnsafePointer(stored)
    }()

    // C function pointers capture nothing, not even `Self`: names of this type are written out.

    private static func setContentMethods(of methods: inout sqlite3_io_methods) {
        methods.xClose = { file in
            MemoryVFS.leaveIndex(file)
            MemoryVFS.memory(file).locks.unlock(MemoryVFS.open(file).pointee.holder)
            MemoryVFS.open(file).pointee.file.release()
            return SQLITE_OK
        }
        methods.xRead = { file, target, count, offset in
            MemoryVFS.tried(file, .read) { memory in
                let target = UnsafeMutableRawBufferPointer(start: target, count: Int(count))
                return memory.read(into: target, at: Int(offset)) ? SQLITE_OK : MemoryVFS.shortRead
            }
        }
        methods.xWrite = { file, source, count, offset in
            MemoryVFS.tried(file, .write) { memory in
                memory.write(UnsafeRawBufferPointer(start: source, count: Int(count)), at: Int(offset))
                return SQLITE_OK
            }
        }
        methods.xTruncate = { file, size in
            MemoryVFS.tried(file, .write) { memory in
                memory.truncate(to: Int(size))
                return SQLITE_OK
            }
        }
        methods.xSync = { file, _ in
            MemoryVFS.tried(file, .write) { memory in
                memory.sync()
                return SQLITE_OK
            }
        }
        methods.xFileSize = { file, size in
            size?.pointee = Int64(MemoryVFS.memory(file).size)
            return SQLITE_OK
        }
        methods.xFileControl = { _, _, _ in SQLITE_NOTFOUND }
        methods.xSectorSize = { _ in 4096 }
        // The system's file system says the same: a torn write changes nothing outside its range.
        methods.xDeviceCharacteristics = { _ in SQLITE_IOCAP_POWERSAFE_OVERWRITE }
    }

    private static func setLockMethods(of methods: inout sqlite3_io_methods) {
        methods.xLock = { file, level in
            let (memory, holder) = (MemoryVFS.memory(file), MemoryVFS.open(file).pointee.holder)
            guard !memory.disk.isCutOff(holder.process) else { return SQLITE_BUSY }
            return memory.locks.raise(holder, to: level) ? SQLITE_OK : SQLITE_BUSY
        }
        methods.xUnlock = { file, level in
            MemoryVFS.memory(file).locks.lower(MemoryVFS.open(file).pointee.holder, to: level)
            return SQLITE_OK
        }
        methods.xCheckReservedLock = { file, result in
            result?.pointee = MemoryVFS.memory(file).locks.isReserved ? 1 : 0
            return SQLITE_OK
        }
        methods.xShmMap = { file, number, size, makes, part in
            if !MemoryVFS.open(file).pointee.usesIndex {
                MemoryVFS.open(file).pointee.usesIndex = true
                MemoryVFS.memory(file).useIndex()
            }
            part?.pointee = MemoryVFS.memory(file).indexPart(Int(number), size: Int(size), makes: makes != 0)
            return SQLITE_OK
        }
        methods.xShmLock = { file, first, count, flags in
            let (memory, holder) = (MemoryVFS.memory(file), MemoryVFS.open(file).pointee.holder)
            let slots = Int(first)..<Int(first + count)
            if flags & SQLITE_SHM_UNLOCK != 0 {
                memory.locks.unlock(slots, of: holder)
                return SQLITE_OK
            }
            guard !memory.disk.isCutOff(holder.process) else { return SQLITE_BUSY }
            let isShared = flags & SQLITE_SHM_SHARED != 0
            return memory.locks.lock(slots, of: holder, isShared: isShared) ? SQLITE_OK : SQLITE_BUSY
        }
        methods.xShmBarrier = { _ in }
        methods.xShmUnmap = { file, _ in
            MemoryVFS.leaveIndex(file)
            return SQLITE_OK
        }
    }

    private static func leaveIndex(_ file: UnsafeMutablePointer<sqlite3_file>?) {
        guard open(file).pointee.usesIndex else { return }
        open(file).pointee.usesIndex = false
        memory(file).leaveIndex()
    }

    /// `SQLITE_IOERR_SHORT_READ`, a macro that Swift does not import.
    private static let shortRead = SQLITE_IOERR | 2 << 8
}
