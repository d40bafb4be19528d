import Testing

@testable import CacheBenchKit

@Suite struct FiguresTests {
    @Test func countsAreGrouped() {
        #expect(Figures.count(0) == "0")
        #expect(Figures.count(999) == "999")
        #expect(Figures.count(1000) == "1,000")
        #expect(Figures.count(-1_234_567) == "-1,234,567")
        #expect(Figures.count(-123) == "-123")
        #expect(Figures.count(.max) == "9,223,372,036,854,775,807")
    }

    @Test func longCountsAreShortenedInTables() {
        #expect(Figures.shortCount(99_999_999) == "99,999,999")
        #expect(Figures.shortCount(123_456_789) == "123.5M")
        #expect(Figures.shortCount(999_960_000) == "1.0G")
        #expect(Figures.shortCount(.max) == "9.2E")
    }

    @Test func decimalsAreRounded() {
        #expect(Figures.decimal(0) == "0.0")
        #expect(Figures.decimal(1234.56) == "1,234.6")
        #expect(Figures.decimal(0.96, places: 0) == "1")
        #expect(Figures.decimal(1.005, places: 2) == "1.00")
        #expect(Figures.decimal(-0.01) == "0.0")
        #expect(Figures.decimal(-2.25, places: 2) == "-2.25")
        #expect(Figures.decimal(1e20) == "1e+20")
        #expect(Figures.decimal(.infinity) == "inf")
    }

    @Test func ratesAreNeverRoundedToAllOrNothing() {
        #expect(Figures.percent(nil) == "-")
        #expect(Figures.percent(0) == "0.0 %")
        #expect(Figures.percent(1) == "100.0 %")
        #expect(Figures.percent(0.0004) == "0.04 %")
        #expect(Figures.percent(0.99951) == "99.95 %")
        #expect(Figures.percent(0.9999) == "99.99 %")
        #expect(Figures.percent(0.99999) == "99.999 %")
        #expect(Figures.percent(0.999999) == ">99.999 %")
        #expect(Figures.percent(0.00001) == "0.001 %")
        #expect(Figures.percent(1e-9) == "<0.001 %")
        #expect(Figures.percentNumber(0.0004) == "<0.1")
        #expect(Figures.percentNumber(0.9999) == ">99.9")
        #expect(Figures.percent(0.9714) == "97.1 %")
        #expect(Figures.percent(3, of: 0) == "-")
        #expect(Figures.percent(.nan) == "-")
    }

    @Test func bytesChooseTheirUnit() {
        #expect(Figures.bytes(0) == "0 B")
        #expect(Figures.bytes(1023) == "1,023 B")
        #expect(Figures.bytes(1024) == "1.0 KiB")
        // Never "1,024.0 KiB".
        #expect(Figures.bytes((1 << 20) - 1) == "1.0 MiB")
        #expect(Figures.bytes(64 << 20) == "64.0 MiB")
        #expect(Figures.bytes(5 << 40) == "5.0 TiB")
        #expect(Figures.bytes(.max) == "8.0 EiB")
    }

    @Test func timesChooseTheirUnit() {
        #expect(Figures.milliseconds(nil) == "-")
        #expect(Figures.milliseconds(40.12) == "40.1 ms")
        #expect(Figures.milliseconds(1250) == "1.25 s")
        #expect(Figures.seconds(0) == "0.00 s")
        #expect(Figures.seconds(99.999) == "1 min 40 s")
        #expect(Figures.seconds(3599.6) == "1 h 00 min")
        #expect(Figures.seconds(7505) == "2 h 05 min")
        #expect(Figures.seconds(1e20) == "1e+20 s")
    }

    @Test func textIsShortenedInTheMiddle() {
        #expect("short".shortened(to: 5) == "short")
        #expect("user7_session_0041905381".shortened(to: 15) == "user7_s…1905381")
        #expect("abcdef".shortened(to: 3) == "abc")
        #expect("abcdef".shortened(to: 0) == "")
        #expect("a\u{1B}[31mb\u{202E}\nc".printable == "a?[31mb??c")
        #expect("Zoé 地図".printable == "Zoé 地図")
    }

    /// Of a terminal: an ideograph takes two of its cells.
    @Test func columnsHaveTheWidthsOfTheirCells() {
        #expect("地図".padded(to: 6) == "地図  " && "地図".aligned(to: 6) == "  地図")
        #expect("e\u{301}te\u{301}".padded(to: 4) == "e\u{301}te\u{301} ")
        #expect("\u{1112}\u{1161}\u{11AB}".cellCount == 2 && "한".cellCount == 2 && "Ａ🎉".cellCount == 4)
        #expect("地図の軌跡.csv".shortened(to: 14) == "地図の軌跡.csv")
        // Half of an ideograph does not fit.
        #expect("地図の軌跡.csv".shortened(to: 10) == "地図….csv" && "地図の".shortened(to: 3) == "地")
        #expect(columns([["地図", "1"], ["abc", "20"]]) == ["地図  1", "abc  20"])
    }

    /// A shell takes each value as one word, and executes none of it.
    @Test func flagsCanBePasted() {
        func flag(_ path: String) -> String? { ReplayFlags.words(["profile": .text(path)]).first }
        #expect(flag("maps/a-b_c.profile") == "--profile maps/a-b_c.profile")
        #expect(flag("a b") == "--profile 'a b'")
        #expect(flag("$(id);&#{z}") == "--profile '$(id);&#{z}'")
        #expect(flag("it's") == #"--profile 'it'\''s'"#)
    }

    @Test func storesUnderTheRealClockAreAmongTheFlags() {
        var options = ReplayOptions()
        options.clock = .real
        (options.disk, options.diskLimit, options.shared) = ("my tiles", 1 << 20, "127.0.0.1:11211")
        let words = ReplayFlags.words(options.resolvedConfiguration(scene: nil, byteLimit: nil))
        for word in ["--disk 'my tiles'", "--disk-limit 1048576B", "--shared 127.0.0.1:11211"] {
            #expect(words.contains(word))
        }
    }

    @Test func flagsAreWrappedAndCanBeTyped() {
        #expect(wrapped(["one", "two", "three"], width: 9, indent: 2) == ["one two", "  three"])
        #expect(wrapped([], width: 9, indent: 2) == [])
        let words = ReplayFlags.words([
            "memoryLimit": .text("64MiB"), "compressedTier": .flag(false), "compressedShare": .number(0.5),
            "clock": .text("real"), "speed": .number(2.5), "loadLatencyMilliseconds": .none, "wrapsX": .flag(false),
            "durationSeconds": .number(180), "somethingNew": .integer(3),
        ])
        #expect(
            words == [
                "--memory-limit 64MiB", "--compressed-tier off", "--clock real", "--speed 2.5", "--no-wrap-x",
                "--duration 180s",
            ]
        )
    }
}
