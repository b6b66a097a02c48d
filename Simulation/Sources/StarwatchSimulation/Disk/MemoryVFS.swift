import GRDBSQLite
import Glibc
import Synchronization

/// What SQLite takes for the file system: databases of simulations are in memory, all others where they are.
///
/// A simulated disk costs no system call, and loses what a real one may lose. One connection at a time opens a
/// database there, so that locks are only said to be taken.
enum MemoryVFS {
    /// The disks of the simulations that run, by their folders.
    private static let disks = Mutex<[String: SimulatedDisk]>([:])

    /// Makes it the one that SQLite asks from now on.
    static func install() { _ = isInstalled }

    /// Has SQLite look on `disk` for what is in its folder.
    static func add(_ disk: SimulatedDisk) { disks.withLock { $0[disk.root] = disk } }

    static func remove(_ disk: SimulatedDisk) { disks.withLock { $0[disk.root] = nil } }

    /// The disk where the file `name` is, and its path; `nil` for a file of the system.
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
                to: OpenFile(methods: methods, file: Unmanaged.passRetained(disk.makeFile(at: path)))
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

    /// SQLite's `sqlite3_file`, and what is behind it.
    private struct OpenFile {
        var methods: UnsafePointer<sqlite3_io_methods>?
        var file: Unmanaged<MemoryFile>
    }

    private static func open(_ file: UnsafeMutablePointer<sqlite3_file>?) -> UnsafeMutablePointer<OpenFile> {
        UnsafeMutableRawPointer(file!).assumingMemoryBound(to: OpenFile.self)
    }

    private static func memory(_ file: UnsafeMutablePointer<sqlite3_file>?) -> MemoryFile {
        open(file).pointee.file.takeUnretainedValue()
    }

    /// What `body` answers, unless the disk fails.
    private static func tried(
        _ file: UnsafeMutablePointer<sqlite3_file>?,
        _ access: SimulatedDisk.Access,
        _ body: (MemoryFile) -> Int32
    ) -> Int32 {
        let memory = memory(file)
        switch memory.disk.failure(access) {
        case nil: return body(memory)
        case .full: return SQLITE_FULL
        case .broken: return SQLITE_IOERR
        }
    }

    /// SQLite reads it as long as a file is open: it is never freed.
    nonisolated(unsafe) private static let methods: UnsafePointer<sqlite3_io_methods> = {
        var methods = sqlite3_io_methods()
        methods.iVersion = 2
        methods.xClose = { file in
            open(file).pointee.file.release()
            return SQLITE_OK
        }
        methods.xRead = { file, target, count, offset in
            tried(file, .read) { memory in
                let target = UnsafeMutableRawBufferPointer(start: target, count: Int(count))
                return memory.read(into: target, at: Int(offset)) ? SQLITE_OK : shortRead
            }
        }
        methods.xWrite = { file, source, count, offset in
            tried(file, .write) { memory in
                memory.write(UnsafeRawBufferPointer(start: source, count: Int(count)), at: Int(offset))
                return SQLITE_OK
            }
        }
        methods.xTruncate = { file, size in
            tried(file, .write) { memory in
                memory.truncate(to: Int(size))
                return SQLITE_OK
            }
        }
        methods.xSync = { file, _ in
            tried(file, .write) { memory in
                memory.sync()
                return SQLITE_OK
            }
        }
        methods.xFileSize = { file, size in
            size?.pointee = Int64(memory(file).size)
            return SQLITE_OK
        }
        methods.xLock = { _, _ in SQLITE_OK }
        methods.xUnlock = { _, _ in SQLITE_OK }
        methods.xCheckReservedLock = { _, result in
            result?.pointee = 0
            return SQLITE_OK
        }
        methods.xFileControl = { _, _, _ in SQLITE_NOTFOUND }
        methods.xSectorSize = { _ in 4096 }
        // As the system's own says: a write that power cuts short changes nothing beside it.
        methods.xDeviceCharacteristics = { _ in SQLITE_IOCAP_POWERSAFE_OVERWRITE }
        methods.xShmMap = { file, number, size, makes, part in
            part?.pointee = memory(file).indexPart(Int(number), size: Int(size), makes: makes != 0)
            return SQLITE_OK
        }
        methods.xShmLock = { _, _, _, _ in SQLITE_OK }
        methods.xShmBarrier = { _ in }
        methods.xShmUnmap = { file, _ in
            memory(file).dropIndex()
            return SQLITE_OK
        }
        let stored = UnsafeMutablePointer<sqlite3_io_methods>.allocate(capacity: 1)
        stored.initialize(to: methods)
        return UnsafePointer(stored)
    }()

    /// `SQLITE_IOERR_SHORT_READ`, a macro that Swift does not see.
    private static let shortRead = SQLITE_IOERR | 2 << 8
}
