import CWebPAnimation
import Testing

@testable import AnimatedWebP

@Suite struct AnimatedWebPTests {
    /// A grey picture with a white column.
    private func picture(_ column: Int, width: Int = 32, height: Int = 16) -> [UInt8] {
        (0..<width * height).flatMap { [UInt8](repeating: $0 % width == column ? 255 : 96, count: 4) }
    }

    /// Times and pixels of a file's pictures, as libwebp's own decoder reads them.
    private func decoded(_ file: [UInt8]) throws -> (width: Int, times: [Int], pictures: [[UInt8]], loops: Int) {
        try file.withUnsafeBufferPointer { bytes in
            var data = WebPData(bytes: bytes.baseAddress, size: bytes.count)
            var options = WebPAnimDecoderOptions()
            #expect(WebPAnimDecoderOptionsInit(&options) != 0)
            let decoder = try #require(WebPAnimDecoderNew(&data, &options))
            defer { WebPAnimDecoderDelete(decoder) }
            var info = WebPAnimInfo()
            #expect(WebPAnimDecoderGetInfo(decoder, &info) != 0)
            var (times, pictures): ([Int], [[UInt8]]) = ([], [])
            while WebPAnimDecoderHasMoreFrames(decoder) != 0 {
                var (pixels, end): (UnsafeMutablePointer<UInt8>?, Int32) = (nil, 0)
                #expect(WebPAnimDecoderGetNext(decoder, &pixels, &end) != 0)
                let size = Int(info.canvas_width) * Int(info.canvas_height) * 4
                pictures.append(Array(UnsafeBufferPointer(start: pixels, count: size)))
                times.append(Int(end))
            }
            return (Int(info.canvas_width), times, pictures, Int(info.loop_count))
        }
    }

    @Test func picturesComeBackAtTheirTimes() throws {
        let writer = try AnimatedWebP(width: 32, height: 16, quality: 90)
        for index in 0..<5 { try writer.add(rgba: picture(index * 6), at: index * 100) }
        let file = try decoded(try writer.finish(at: 500))
        #expect(file.width == 32)
        #expect(file.loops == 0, "0 repeats forever")
        #expect(file.times == [100, 200, 300, 400, 500])
        for (index, pixels) in file.pictures.enumerated() {
            let wanted = picture(index * 6)
            for place in stride(from: 0, to: pixels.count, by: 4) {
                #expect(abs(Int(pixels[place]) - Int(wanted[place])) < 60, "picture \(index), byte \(place)")
                #expect(pixels[place + 3] == 255)
            }
        }
    }

    /// Equal pictures become one that is shown longer.
    @Test func aStillIsSmall() throws {
        let writer = try AnimatedWebP(width: 32, height: 16)
        for index in 0..<40 { try writer.add(rgba: picture(index == 0 ? 2 : 3), at: index * 100) }
        let bytes = try writer.finish(at: 4000)
        #expect(bytes.count < 1000)
        #expect(try decoded(bytes).times == [100, 4000])
    }

    @Test func badInputIsRefused() throws {
        #expect(throws: AnimatedWebPError.self) { try AnimatedWebP(width: 0, height: 16) }
        #expect(throws: AnimatedWebPError.self) { try AnimatedWebP(width: 16_384, height: 16) }
        #expect(throws: AnimatedWebPError.self) { try AnimatedWebP(width: 16, height: 16, quality: 101) }
        let writer = try AnimatedWebP(width: 32, height: 16)
        #expect(throws: AnimatedWebPError.self) { try writer.finish(at: 100) }
        #expect(throws: AnimatedWebPError.self) { try writer.add(rgba: [0], at: 0) }
        try writer.add(rgba: picture(1), at: 0)
        #expect(throws: AnimatedWebPError.self) { try writer.add(rgba: picture(2), at: 0) }
        #expect(throws: AnimatedWebPError.self) { try writer.finish(at: 0) }
    }
}
