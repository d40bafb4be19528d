import PanTraces
import Testing
import TileCache

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

@Suite struct PanTraceReaderTests {
    private static let header = """
        # pan-trace: 1
        # viewport: 1000x470
        # world: 131072x65536
        # kind: by hand: two colons
        # wraps_x: true
        time_s,center_x,center_y,scale

        """

    private func samples(_ text: String) throws(PanTraceError) -> [PanTraceSample] {
        try samples(bytes: Array(text.utf8))
    }

    private func samples(bytes: [UInt8]) throws(PanTraceError) -> [PanTraceSample] {
        let reader = try PanTraceReader(bytes: bytes)
        var samples: [PanTraceSample] = []
        while let sample = try reader.nextSample() { samples.append(sample) }
        return samples
    }

    @Test func readsTheHeader() throws {
        let reader = try PanTraceReader(text: Self.header)
        #expect(
            reader.header
                == PanTraceHeader(
                    viewport: .init(width: 1000, height: 470),
                    world: .init(width: 131_072, height: 65_536),
                    wrapsX: true,
                    otherEntries: [.init(key: "kind", value: "by hand: two colons")]
                )
        )
        #expect(reader.hasRotation == false)
    }

    @Test func readsTheSamples() throws {
        let read = try samples(Self.header + "0.0000,65536.000,50816.000,0.0078125\n0.0160,-1e3,.5,2\n")
        #expect(
            read == [
                PanTraceSample(time: 0, center: WorldPoint(x: 65_536, y: 50_816), scale: 0.0078125),
                PanTraceSample(time: 16_000_000, center: WorldPoint(x: -1000, y: 0.5), scale: 2),
            ]
        )
    }

    /// Long traces are read, and pauses of up to 30 days.
    @Test func readsLongTraces() throws {
        let read = try samples(Self.header + "0,1,2,3\n86400,1,2,3\n2678400,1,2,3\n5270400,1,2,3\n")
        #expect(read.map { $0.time / 86_400_000_000_000 } == [0, 1, 31, 61])
    }

    @Test func readsRotation() throws {
        let text = "# pan-trace: 1\ntime_s,center_x,center_y,scale,rotation\n0,1,2,3,-0.5\n"
        #expect(
            try samples(text) == [PanTraceSample(time: 0, center: WorldPoint(x: 1, y: 2), scale: 3, rotation: -0.5)]
        )
        #expect(throws: PanTraceError.self) { try samples(text + "1,1,2,3\n") }
    }

    @Test(arguments: ["0,1,2,3\n1,1,2,3", "0,1,2,3\r\n1,1,2,3\r\n", "0,1,2,3\n1,1,2,3\n\n", "0,1,2,3\n1,1,2,3\n\r\n\n"])
    func forgivesHowLinesEnd(lines: String) throws {
        let plain = try samples(Self.header + "0,1,2,3\n1,1,2,3\n")
        #expect(plain.count == 2)
        #expect(try samples(Self.header + lines) == plain)
        let text = (Self.header + lines).replacing("\n", with: "\r\n").replacing("\r\r", with: "\r")
        #expect(try samples(bytes: [0xEF, 0xBB, 0xBF] + Array(text.utf8)) == plain)
    }

    @Test(
        arguments: [
            ("nan,1,2,3", .notFinite, "trace:9: expected a time in seconds as a finite decimal number, found \"nan\""),
            ("1,NaN,2,3", .notFinite, nil),
            ("1,1,-inf,3", .notFinite, nil),
            ("1,1,2,infinity", .notFinite, nil),
            ("1,1e999,2,3", .notFinite, nil),
            ("1e300,1,2,3", .notFinite, nil),
            (
                "0.5,1,2,3", .timeNotIncreasing,
                "trace:9: expected a time later than 0.5 s by a nanosecond or more, found \"0.5,1,2,3\""
            ),
            ("0.4,1,2,3", .timeNotIncreasing, nil),
            ("-1,1,2,3", .timeNotIncreasing, nil),
            ("0.5000000001,1,2,3", .timeNotIncreasing, nil),
            (
                "2592000.500000001,1,2,3", .timeTooLate,
                "trace:9: expected a time in seconds, at most 30 days after 0.5 s, found \"2592000.500000001,1,2,3\""
            ),
            ("9e9,1,2,3", .timeTooLate, nil),
            ("1,1,2,0", .scaleNotPositive, "trace:9: expected a scale larger than 0, found \"1,1,2,0\""),
            ("1,1,2,-3", .scaleNotPositive, nil),
            ("1,1,2,1e-999", .scaleNotPositive, nil),
            (
                "1,1,2", .wrongColumnCount,
                "trace:9: expected the 4 columns time_s,center_x,center_y,scale, found \"1,1,2\""
            ),
            ("1,1,", .wrongColumnCount, nil),
            ("1", .wrongColumnCount, nil),
            ("1,1,2,3,4", .wrongColumnCount, nil),
            ("1,1,2,3,", .wrongColumnCount, nil),
            (
                "1,1,two,3", .notANumber,
                "trace:9: expected a vertical centre in world pixels as a decimal number, found \"two\""
            ),
            ("1,1,,3", .notANumber, nil),
            ("1, 1,2,3", .notANumber, nil),
            ("1,0x10,2,3", .notANumber, nil),
            ("1,1,2,3 ", .notANumber, nil),
            ("1,1,1e,3", .notANumber, nil),
            ("1,1,.,3", .notANumber, nil),
            ("\n1,1,2,3", .blankLine, "trace:9: expected a sample, found an empty line"),
            ("# late: header", .wrongColumnCount, nil),
        ] as [(String, PanTraceError.Kind, String?)]
    )
    func refusesBadSamples(line: String, kind: PanTraceError.Kind, message: String?) {
        let error = #expect(throws: PanTraceError.self) {
            try samples(Self.header + "0,1,2,3\n0.5,1,2,3\n" + line + "\n2,1,2,3\n")
        }
        #expect(error?.kind == kind)
        #expect(error?.line == 9)
        if let message { #expect(error?.description == message) }
    }

    @Test(
        arguments: [
            ("", .empty, nil),
            ("\n", .missingHeader, 1),
            ("time_s,center_x,center_y,scale\n0,1,2,3\n", .missingHeader, 1),
            ("0,1,2,3\n", .missingHeader, 1),
            ("# viewport: 1x1\ntime_s,center_x,center_y,scale\n", .missingHeader, 2),
            ("# viewport: 1x1\n", .missingHeader, 1),
            ("# pan-trace: 2\n", .unknownVersion, 1),
            ("# pan-trace: 1.0\n", .unknownVersion, 1),
            ("# pan-trace: 1\n", .missingColumns, 1),
            ("# pan-trace: 1\n0,1,2,3\n", .missingColumns, 2),
            ("# pan-trace: 1\ntime,x,y,scale\n", .missingColumns, 2),
            ("# pan-trace: 1\n\ntime_s,center_x,center_y,scale\n", .missingColumns, 2),
            ("# pan-trace: 1\ntime_s,center_x,center_y,scale\n", .noSamples, 2),
            ("# pan-trace: 1\ntime_s,center_x,center_y,scale\n\n\n", .noSamples, 4),
            ("# pan-trace: 1\ntime_s,center_x,center_y,scale\n0.1,1,2,3\n", .firstTimeNotZero, 3),
            ("# pan-trace: 1\ntime_s,center_x,center_y,scale\n-0.1,1,2,3\n", .firstTimeNotZero, 3),
            ("# pan-trace: 1\n# no colon\n", .badHeader, 2),
            ("# pan-trace: 1\n# : no key\n", .badHeader, 2),
            ("# pan-trace: 1\n# pan-trace: 1\n", .badHeader, 2),
            ("# pan-trace: 1\n# viewport: 1000\n", .badHeader, 2),
            ("# pan-trace: 1\n# viewport: 1000x0\n", .badHeader, 2),
            ("# pan-trace: 1\n# viewport: 1000x470x3\n", .badHeader, 2),
            ("# pan-trace: 1\n# viewport: nanx470\n", .badHeader, 2),
            ("# pan-trace: 1\n# world: 0.5x100\n", .badHeader, 2),
            ("# pan-trace: 1\n# world: 1e300x100\n", .badHeader, 2),
            ("# pan-trace: 1\n# wraps_x: yes\n", .badHeader, 2),
            ("# pan-trace: 1\n# tile_size: 0\n", .badHeader, 2),
            ("# pan-trace: 1\n# tile_size: 256.5\n", .badHeader, 2),
        ] as [(String, PanTraceError.Kind, Int?)]
    )
    func refusesBadHeaders(text: String, kind: PanTraceError.Kind, line: Int?) {
        let error = #expect(throws: PanTraceError.self) { try samples(text) }
        #expect(error?.kind == kind)
        #expect(error?.line == line)
    }

    @Test func refusesWhatIsNotText() {
        let error = #expect(throws: PanTraceError.self) { try samples(bytes: [0x23, 0x20, 0xFF, 0x3A, 0x20, 0x00]) }
        #expect(
            error?.description == "trace:1: expected a header line of the form # key: value, found \"# \\xFF: \\x00\""
        )
    }

    @Test func refusesLinesAndHeadersWithoutEnd() {
        let longLine = #expect(throws: PanTraceError.self) {
            try samples(Self.header + "0,1,2,3\n" + String(repeating: "1", count: 70_000) + "\n")
        }
        #expect(longLine?.kind == .tooLong)
        #expect(longLine?.line == 8)
        let endless = #expect(throws: PanTraceError.self) {
            try samples(bytes: Array(repeating: UInt8(ascii: "1"), count: 1_000_000))
        }
        #expect(endless?.kind == .tooLong)
        let header = #expect(throws: PanTraceError.self) { try samples(String(repeating: "# a: b\n", count: 2000)) }
        #expect(header?.kind == .tooLong)
        #expect(header?.line == 1001)
    }

    @Test func aLongLineWithinTheLimitIsRead() throws {
        let digits = String(repeating: "0", count: 60_000)
        #expect(try samples(Self.header + "0,1.\(digits),2,3\n").first?.center.x == 1)
    }

    @Test func namesFilesThatCannotBeRead() {
        let missing = #expect(throws: PanTraceError.self) { try PanTraceReader(path: "/no/such/trace.csv") }
        #expect(
            missing?.description
                == "/no/such/trace.csv: expected a file that can be read, found No such file or directory"
        )
        // As a name that is not UTF-8 is passed on.
        let other = #expect(throws: PanTraceError.self) { try PanTraceReader(path: "/no/such/\u{FFFD}.csv") }
        #expect(other?.description.contains("can be read, with a name in UTF-8, found No such file") == true)
        let folder = #expect(throws: PanTraceError.self) { try PanTraceReader(path: "/") }
        #expect(folder?.kind == .unreadable)
    }

    @Test func flagsCountMoreThanTheHeader() throws {
        let header = try PanTraceReader(text: Self.header).header
        #expect(
            try PanTraceScene(header, name: "trace").viewport == PanTraceHeader.Size(width: 1000, height: 470)
        )
        let scene = try PanTraceScene(
            header,
            overrides: PanTraceOverrides(
                viewport: .init(viewport: "640x480.5"),
                world: .init(world: "4096x2048"),
                wrapsX: false,
                tileSize: 128
            ),
            name: "trace"
        )
        #expect(scene.viewport == PanTraceHeader.Size(width: 640, height: 480.5))
        #expect(scene.worldWidth == 4096 && scene.worldHeight == 2048)
        #expect(scene.wrapsX == false)
        #expect(scene.tileSize == 128)
    }

    @Test func oneOfHeaderAndFlagsHasToSay() {
        let world = PanTraceHeader.Size(width: 100, height: 100)
        let noViewport = #expect(throws: PanTraceError.self) {
            try PanTraceScene(PanTraceHeader(world: world), name: "a.csv")
        }
        #expect(noViewport?.description == "a.csv: expected # viewport: WxH in the header, or --viewport")
        let noWorld = #expect(throws: PanTraceError.self) {
            try PanTraceScene(PanTraceHeader(viewport: world), name: "a.csv")
        }
        #expect(noWorld?.kind == .missingWorld)
    }

    @Test func whatWasRecordedIsReadBackToTheBit() throws {
        let recorder = PanTraceRecorder(
            header: PanTraceHeader(world: .init(width: 4096, height: 4096), tileSize: 128, viewName: "left")
        )
        var x = 1.0 / 3
        for step in 0..<2000 {
            x = (x * 3.9 * (1 - x))
            recorder.record(
                TileViewport(
                    center: WorldPoint(x: x * 1e5, y: -x),
                    width: 640,
                    height: 376,
                    scale: x * x,
                    rotation: step == 7 ? x : 0
                ),
                at: 1_000 + Int64(step) * 16_666_667
            )
        }
        let reader = try PanTraceReader(text: recorder.text)
        #expect(reader.header == recorder.header)
        #expect(reader.hasRotation)
        #expect(try samples(recorder.text) == recorder.samples)
    }

    /// 200,000 lines, 8 MB, in a separate process. Its peak memory must not grow while it reads.
    @Test func readsLongTracesInConstantMemoryInAnotherProcess() async {
        await #expect(processExitsWith: .success) {
            var name = Array("/tmp/pan-trace-XXXXXX".utf8CString)
            let descriptor = mkstemp(&name)
            let path = String(decoding: name.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
            defer { unlink(path) }
            let file = try #require(fdopen(descriptor, "w"))
            fputs(Self.header, file)
            for second in 0..<200_000 { fputs("\(second),123456.789,50816.500,0.0078125\n", file) }
            fclose(file)

            let reader = try PanTraceReader(path: path)
            _ = try reader.nextSample()
            let before = Self.mostResidentBytes()
            var count = 1
            var lastTime: Int64 = 0
            while let sample = try reader.nextSample() {
                count += 1
                lastTime = sample.time
            }
            #expect(count == 200_000)
            #expect(lastTime == 199_999_000_000_000)
            #expect(Self.mostResidentBytes() - before < 2 << 20)
        }
    }

    /// Peak resident memory of this process so far.
    private static func mostResidentBytes() -> Int {
        var usage = rusage()
        #if canImport(Glibc)
            getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
            return usage.ru_maxrss * 1024
        #else
            getrusage(RUSAGE_SELF, &usage)
            return usage.ru_maxrss
        #endif
    }
}
