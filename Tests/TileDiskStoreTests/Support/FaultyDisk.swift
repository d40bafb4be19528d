import CTileSQLite
import Synchronization
import TileCache

/// A VFS of SQLite on top of the system's. Sums the sizes of all files at each write, and fails on request.
final class FaultyDisk: @unchecked Sendable {
    // The state has a lock; the pointers are immutable after init.

    /// Faults of the disk.
    enum Fault: Equatable {
        /// Writes are lost after this many more; half of the next one is kept.
        case powerCut(after: Int)
        /// Maximum bytes of all files together.
        case full(bytes: Int)
        case readOnly
        /// One in this number of reads and writes fails, on average.
        case errors(oneIn: UInt64)
        /// Pages of the database other than the first are read with wrong bytes. Writes may fail, too.
        case damagedReads(isWritable: Bool)
        /// Syncs find the file damaged. Only generations are synced.
        case damagedSyncs
    }

    struct State {
        var fault: Fault?
        var sizes: [String: Int64] = [:]
        /// Largest sum of all sizes after any write.
        var peak = 0
        var writes = 0
        var reads = 0
        var writtenBytes = 0
        /// Called once, by the next read.
        var onRead: (@Sendable () -> Void)?
        var dice: UInt64 = 88_172_645_463_325_252

        var total: Int { sizes.values.reduce(0) { $0 + Int($1) } }

        mutating func roll() -> UInt64 {
            dice ^= dice << 13
            dice ^= dice >> 7
            dice ^= dice << 17
            return dice
        }
    }

    let name: String
    let state = Lock(State())
    fileprivate let base: UnsafeMutablePointer<sqlite3_vfs>
    private let vfs: UnsafeMutablePointer<sqlite3_vfs>
    private let nameBytes: UnsafeMutablePointer<CChar>

    private static let numbers = Atomic<Int>(0)

    init() {
        name = "faulty\(Self.numbers.add(1, ordering: .relaxed).newValue)"
        base = sqlite3_vfs_find(nil)
        vfs = .allocate(capacity: 1)
        nameBytes = .allocate(capacity: 32)
        vfs.initialize(to: base.pointee)
        nameBytes.initialize(repeating: 0, count: 32)
        for (index, byte) in name.utf8.enumerated() { nameBytes[index] = CChar(byte) }
        vfs.pointee.zName = UnsafePointer(nameBytes)
        vfs.pointee.szOsFile = Int32(MemoryLayout<FaultyFile>.stride) + base.pointee.szOsFile
        vfs.pointee.pAppData = Unmanaged.passRetained(self).toOpaque()
        vfs.pointee.pNext = nil
        vfs.pointee.xOpen = { vfs, name, file, flags, outFlags in
            FaultyDisk.of(vfs!).open(name, file!, flags, outFlags)
        }
        vfs.pointee.xDelete = { vfs, name, sync in
            let disk = FaultyDisk.of(vfs!)
            guard disk.state.withLock({ !$0.isCut && $0.fault != .readOnly }) else { return SQLITE_IOERR }
            disk.state.withLock { $0.sizes[String(cString: name!)] = nil }
            return disk.base.pointee.xDelete(disk.base, name, sync)
        }
        // The others take the base's own data.
        vfs.pointee.xAccess = { vfs, name, flags, result in
            let base = FaultyDisk.of(vfs!).base
            return base.pointee.xAccess(base, name, flags, result)
        }
        vfs.pointee.xFullPathname = { vfs, name, count, result in
            let base = FaultyDisk.of(vfs!).base
            return base.pointee.xFullPathname(base, name, count, result)
        }
        // It stays until the process ends: a store that uses it may be released after the test's last use of it.
        sqlite3_vfs_register(vfs, 0)
    }

    func set(_ fault: Fault?) { state.withLock { $0.fault = fault } }

    private static func of(_ vfs: UnsafeMutablePointer<sqlite3_vfs>) -> FaultyDisk {
        Unmanaged<FaultyDisk>.fromOpaque(vfs.pointee.pAppData).takeUnretainedValue()
    }

    private func open(
        _ name: UnsafePointer<CChar>?,
        _ file: UnsafeMutablePointer<sqlite3_file>,
        _ flags: Int32,
        _ outFlags: UnsafeMutablePointer<Int32>?
    ) -> Int32 {
        file.pointee.pMethods = nil
        var flags = flags
        if state.withLock({ $0.fault == .readOnly }), flags & SQLITE_OPEN_READWRITE != 0 {
            // As in the system's VFS: a file that cannot be written is opened for reading.
            guard flags & SQLITE_OPEN_MAIN_DB != 0 else { return SQLITE_READONLY | 6 << 8 }
            flags = flags & ~(SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE) | SQLITE_OPEN_READONLY
        }
        let faulty = UnsafeMutableRawPointer(file).bindMemory(to: FaultyFile.self, capacity: 1)
        let real = UnsafeMutableRawPointer(faulty + 1).bindMemory(to: sqlite3_file.self, capacity: 1)
        let code = base.pointee.xOpen(base, name, real, flags, outFlags)
        guard code == SQLITE_OK else { return code }
        let path = name.map { String(cString: $0) } ?? ""
        faulty.initialize(
            to: FaultyFile(
                base: sqlite3_file(pMethods: UnsafePointer(methods)),
                disk: Unmanaged.passUnretained(self),
                path: Unmanaged.passRetained(FaultyPath(path))
            )
        )
        var size: Int64 = 0
        if real.pointee.pMethods.pointee.xFileSize(real, &size) == SQLITE_OK {
            state.withLock { $0.sizes[path] = size }
        }
        return SQLITE_OK
    }
}

extension FaultyDisk.State {
    var isCut: Bool { if case .powerCut(let rest) = fault { rest < 0 } else { false } }

    mutating func grow(_ path: String, to size: Int64) {
        sizes[path] = max(sizes[path] ?? 0, size)
        peak = max(peak, total)
    }
}

private final class FaultyPath {
    let path: String
    init(_ path: String) { self.path = path }
}

private struct FaultyFile {
    var base: sqlite3_file
    var disk: Unmanaged<FaultyDisk>
    var path: Unmanaged<FaultyPath>
}

private let ioError = SQLITE_IOERR | 3 << 8

private typealias File = UnsafeMutablePointer<sqlite3_file>

private func parts(_ file: File) -> (real: File, disk: FaultyDisk, path: String) {
    let faulty = UnsafeMutableRawPointer(file).assumingMemoryBound(to: FaultyFile.self)
    let real = UnsafeMutableRawPointer(faulty + 1).assumingMemoryBound(to: sqlite3_file.self)
    return (real, faulty.pointee.disk.takeUnretainedValue(), faulty.pointee.path.takeUnretainedValue().path)
}

/// The system's file below a file.
private func real(_ file: File?) -> File { parts(file!).real }

/// Methods of the system's file.
private func base(_ file: File?) -> sqlite3_io_methods { real(file).pointee.pMethods.pointee }

private nonisolated(unsafe) let methods: UnsafeMutablePointer<sqlite3_io_methods> = {
    let methods = UnsafeMutablePointer<sqlite3_io_methods>.allocate(capacity: 1)
    var table = sqlite3_io_methods()
    table.iVersion = 1
    table.xClose = { file in
        let code = base(file).xClose(real(file))
        UnsafeMutableRawPointer(file!).assumingMemoryBound(to: FaultyFile.self).pointee.path.release()
        return code
    }
    table.xRead = { file, buffer, count, offset in
        let onRead = parts(file!).disk.state.withLock { state in
            defer { state.onRead = nil }
            return state.onRead
        }
        onRead?()
        let (fails, isDamaged) = parts(file!).disk.state.withLock { state -> (Bool, Bool) in
            state.reads += 1
            switch state.fault {
            case .errors(let chances): return (state.roll() % chances == 0, false)
            case .damagedReads: return (false, true)
            default: return (false, false)
            }
        }
        if fails { return ioError }
        let code = base(file).xRead(real(file), buffer, count, offset)
        if isDamaged, offset >= 16_384 { buffer?.initializeMemory(as: UInt8.self, repeating: 0xAB, count: Int(count)) }
        return code
    }
    table.xWrite = { file, buffer, count, offset in
        let (_, disk, path) = parts(file!)
        let (code, kept) = disk.state.withLock { state -> (Int32, Int32) in
            switch state.fault {
            case .powerCut(let rest):
                state.fault = .powerCut(after: max(rest - 1, -1))
                if rest <= 0 { return (ioError, rest == 0 ? count / 2 : 0) }
            case .full(let bytes):
                let growth = max(offset + Int64(count) - (state.sizes[path] ?? 0), 0)
                if state.total + Int(growth) > bytes { return (SQLITE_FULL, 0) }
            case .readOnly: return (SQLITE_READONLY, 0)
            case .errors(let chances): if state.roll() % chances == 0 { return (ioError, 0) }
            case .damagedReads(let isWritable): if !isWritable { return (ioError, 0) }
            case .damagedSyncs, nil: break
            }
            state.writes += 1
            return (SQLITE_OK, count)
        }
        if kept > 0 {
            disk.state.withLock { state in
                state.writtenBytes += Int(kept)
                state.grow(path, to: offset + Int64(kept))
            }
            let written = base(file).xWrite(real(file), buffer, kept, offset)
            if written != SQLITE_OK { return written }
        }
        return code
    }
    table.xTruncate = { file, size in
        let (_, disk, path) = parts(file!)
        let isRefused = disk.state.withLock { $0.isCut || $0.fault == .readOnly }
        if isRefused { return ioError }
        let code = base(file).xTruncate(real(file), size)
        if code == SQLITE_OK { disk.state.withLock { $0.sizes[path] = size } }
        return code
    }
    table.xSync = { file, flags in
        let isRefused = parts(file!).disk.state.withLock { $0.fault == .damagedSyncs }
        return isRefused ? SQLITE_CORRUPT : base(file).xSync(real(file), flags)
    }
    table.xFileControl = { file, operation, argument in
        // The base would extend the file in larger steps.
        if operation == SQLITE_FCNTL_SIZE_HINT || operation == SQLITE_FCNTL_CHUNK_SIZE { return SQLITE_OK }
        return base(file).xFileControl(real(file), operation, argument)
    }
    table.xFileSize = { base($0).xFileSize(real($0), $1) }
    table.xLock = { base($0).xLock(real($0), $1) }
    table.xUnlock = { base($0).xUnlock(real($0), $1) }
    table.xCheckReservedLock = { base($0).xCheckReservedLock(real($0), $1) }
    table.xSectorSize = { base($0).xSectorSize(real($0)) }
    table.xDeviceCharacteristics = { base($0).xDeviceCharacteristics(real($0)) }
    methods.initialize(to: table)
    return methods
}()
