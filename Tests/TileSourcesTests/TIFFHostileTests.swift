import TestSupport
import Testing

@testable import TileCache
@testable import TileSources

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// TIFF files that are damaged, or state what cannot be.
@Suite(.timeLimit(.minutes(45))) struct TIFFHostileTests {
    private let folder = ScratchFolder()

    @discardableResult
    private func look(_ bytes: [UInt8]) -> (isOpen: Bool, said: String) {
        let path = folder.write(bytes, to: "made.tif")
        do {
            let source = try TIFFTileSource(path)
            for (index, level) in source.fileLevels.enumerated().prefix(4) {
                guard level.tileWidth * level.tileHeight <= 1 << 14 else { continue }
                for (column, row) in [(0, 0), (level.columns - 1, level.rows - 1)] {
                    let isFailed = (try? source.loaded(index, column, row)) == nil
                    #expect(!isFailed || source.statistics.failureCount > 0)
                }
            }
            return (true, source.statistics.lastFailure ?? "")
        } catch {
            #expect("\(error)".hasPrefix(path))
            return (false, "\(error)")
        }
    }

    private func made(_ isBig: Bool, _ compression: UInt64) -> MadeTIFF {
        var directories = [(100, 60), (50, 30), (25, 15)].map { size in
            var directory = MadeTIFF.Directory(TestImage(width: size.0, height: size.1, seed: size.0))
            directory.compression = compression
            return directory
        }
        directories[0].children = [1]
        directories[1].isInChain = false
        directories[2].kind = 1
        return MadeTIFF(directories: directories, isLittle: isBig, isBig: isBig)
    }

    @Test(arguments: [false, true]) func eachByteOfTheBeginningIsChanged(isBig: Bool) {
        let bytes = made(isBig, 8).bytes()
        var random = SplitMix64(seed: 3)
        var opened = 0
        for position in 0..<4096 {
            var damaged = bytes
            damaged[position] ^= UInt8(random.next() % 255 + 1)
            if look(damaged).isOpen { opened += 1 }
        }
        #expect(opened > 100 && opened < 4096)
    }

    @Test func filesAreCutOff() {
        for compression in [1, 8] as [UInt64] {
            let bytes = made(false, compression).bytes()
            var failed = 0
            for number in 0..<200 {
                let (isOpen, said) = look(Array(bytes[..<(bytes.count * number / 200)]))
                if !isOpen || !said.isEmpty { failed += 1 }
            }
            // The last tiles of all levels were loaded, and the last bytes are one's.
            #expect(failed == 200)
        }
    }

    /// Directories read once end every loop. None is needed for the test: here all chains end.
    @Test func directoriesThatAreReferredToTwice() {
        var made = made(false, 1)
        made.directories[0].children = [1, 1]
        #expect(look(made.bytes()).said.contains("is referred to twice"))
        // The chain leads from the first directory to its child, which ends it.
        var bytes = self.made(false, 1).bytes()
        let format = TIFFFormat(isLittle: false, isBig: false)
        let first = Int(format.number(bytes[4..<8]))
        let count = Int(format.number(bytes[first..<first + 2]))
        let link = first + 2 + 12 * count
        let child = (0..<count).map { first + 2 + 12 * $0 }.first { format.number(bytes[$0..<$0 + 2]) == 330 }
        bytes.replaceSubrange(link..<link + 4, with: bytes[(child ?? 0) + 8..<(child ?? 0) + 12])
        #expect(look(bytes).said.contains("is referred to twice"))
    }

    /// What is read with a directory is no reason to refuse the file: planes may have 250 directories, each by itself.
    @Test func directoriesThatAreFarApart() throws {
        let image = TestImage(width: 32, height: 32)
        var bytes = MadeTIFF(directories: [.init(image)]).bytes()
        let format = TIFFFormat(isLittle: true, isBig: false)
        let link = 10 + 12 * Int(format.number(bytes[8..<10]))
        let distance = 1_100_000
        bytes.replaceSubrange(link..<link + 4, with: format.bytes(UInt64(distance), 4))
        let path = folder.write(bytes, to: "planes.tif")
        let file = fopen(path, "r+b")
        for number in 1..<250 {
            let next = number < 249 ? (number + 1) * distance : 0
            // One field: ImageWidth.
            let parts = [(1, 2), (256, 2), (4, 2), (1, 4), (32, 4), (next, 4)]
            let directory = parts.flatMap { format.bytes(UInt64($0.0), $0.1) }
            fseek(file, number * distance, SEEK_SET)
            fwrite(directory, 1, directory.count, file)
        }
        fclose(file)
        #expect(try TIFFTileSource(path).loaded(0, 0, 0).image == image)
    }

    @Test func offsetsAndSizesBeyondTheFile() {
        func said(_ tag: UInt64, _ value: UInt64, type: UInt64 = 16) -> String {
            var directory = MadeTIFF.Directory(TestImage(width: 32, height: 32))
            directory.more = [.init(tag: tag, type: type, values: [value])]
            return look(MadeTIFF(directories: [directory], isBig: true).bytes()).said
        }
        #expect(said(324, 1 << 63 + 1).contains("3072 bytes at 9223372036854775809 lie beyond the file's end"))
        #expect(said(324, .max).contains("lie beyond"))
        // 4 GiB and more.
        #expect(
            said(325, 1 << 32 - 1).contains("4294967295 bytes at") && said(325, 1 << 40).contains("4294967295 bytes")
        )
        #expect(said(330, 1 << 63 + 5).contains("its directory of 8 bytes at 9223372036854775813 lies beyond"))
        // Numbers that are only told.
        #expect(said(34735, .max).isEmpty && said(254, 0).isEmpty && said(317, 1 << 63).contains("Predictor of 1 to 3"))
        #expect(said(322, 1 << 20).contains("TileWidth of 16 to 4096"))
        #expect(said(256, 1 << 62).contains("ImageWidth of 1 to 1073741824"))
        // A table of fields, and values, of more than there is.
        var bytes = made(true, 1).bytes()
        bytes.replaceSubrange(16..<24, with: [255, 255, 255, 255, 255, 255, 255, 127])
        #expect(look(bytes).said.contains("1 to 4096 fields were expected"))
    }

    /// Fields of any type and number give an error, or tiles of the stated size.
    @Test(arguments: [1, 2, 3, 4] as [UInt64]) func randomFields(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        func pick<T>(_ values: [T]) -> T { values[Int(random.next() % UInt64(values.count))] }
        let tags: [UInt64] = [
            254, 256, 257, 258, 259, 262, 270, 277, 284, 317, 322, 323, 324, 325, 330, 338, 339, 347, 34735, 42113,
        ]
        let numbers: [UInt64] = [
            0, 1, 2, 3, 4, 7, 8, 15, 16, 17, 32, 33, 64, 4096, 4097, 50001, 32773, 65_535, 1 << 31, 1 << 32 - 1,
            1 << 63,
        ]
        var opened = 0
        for _ in 0..<400 {
            var directory = MadeTIFF.Directory(TestImage(width: 40, height: 70))
            (directory.samples, directory.bits) = (pick([1, 3, 4]), pick([8, 8, 16, 32, 64]))
            (directory.isPlanar, directory.compression) = (pick([true, false]), pick([1, 8]))
            for tag in Set((0..<pick([1, 1, 2, 3])).map { _ in pick(tags) }) {
                let values = (0..<pick([0, 1, 1, 1, 2, 3, 5])).map { _ in pick(numbers) }
                directory.more.append(.init(tag: tag, type: pick([2, 3, 4, 7, 12, 16]), values: values))
            }
            let made = MadeTIFF(directories: [directory], isLittle: pick([true, false]), isBig: pick([true, false]))
            let (isOpen, said) = look(made.bytes())
            #expect(isOpen || !said.isEmpty, "seed \(seed)")
            if isOpen { opened += 1 }
        }
        #expect(opened > 20 && opened < 380, "seed \(seed): \(opened)")
    }

    /// Tests a tile that inflates to more than it may, and one that does not.
    @Test func whatATileInflatesToIsBounded() {
        var directory = MadeTIFF.Directory(TestImage(width: 32, height: 32))
        directory.compression = 8
        let most = TestImage(width: 32, height: 32, pixels: [UInt8](repeating: 0, count: 4096))
        directory.image = most
        let whole = MadeTIFF(directories: [directory]).bytes()
        #expect(look(whole).said.isEmpty)
        directory.encode = { _ in HostileImages.stream([0], surplus: 64) }
        let (isOpen, _) = look(MadeTIFF(directories: [directory]).bytes())
        #expect(isOpen)
    }
}
