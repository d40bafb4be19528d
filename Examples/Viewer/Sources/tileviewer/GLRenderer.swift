import CSDL2
import Foundation
import Synchronization
import TileCache
import TileTextures
import ViewerKit

/// Makes the OpenGL calls, without any decisions. All of them need the context to be current.
final class GLRenderer {
    /// Messages of a debug context, except notifications.
    final class Messages: Sendable {
        private let list = Mutex<[String]>([])
        var all: [String] { list.withLock { $0 } }
        fileprivate func append(_ text: String) { list.withLock { $0.append(text) } }
    }

    let maximumSlots: Int
    private(set) var slotCount = 0
    let messages = Messages()
    /// Whether the context reports messages.
    private(set) var isDebugging = false

    private let slotWidth: Int
    private let slotHeight: Int
    private let isOpaque: Bool
    /// Order of the channels in memory.
    private let order: GLenum
    private let nearest: Program
    private let weighted: Program
    private let shapes: Program
    private var array: GLuint = 0
    private var letters: GLuint = 0
    /// Uploads of successive frames use different buffers, so that none waits for the copy of another.
    private var buffers: [GLuint] = [0, 0, 0]
    private var nextBuffer = 0
    /// Framebuffer and its pixels if the target is off-screen; 0 is the window.
    private var target: (framebuffer: GLuint, pixels: GLuint) = (0, 0)

    init(slotWidth: Int, slotHeight: Int, format: TilePixelFormat, isOpaque: Bool) throws {
        (self.slotWidth, self.slotHeight, self.isOpaque) = (slotWidth, slotHeight, isOpaque)
        var side: GLint = 0
        glGetIntegerv(GLenum(GL_MAX_TEXTURE_SIZE), &side)
        guard max(slotWidth, slotHeight) <= Int(side) else {
            throw ViewerError(
                "tiles of at most \(side) pixels a side were expected, which OpenGL has here, not "
                    + "\(slotWidth)x\(slotHeight); --software draws without it"
            )
        }
        order = GLenum(format == .bgra8 ? GL_BGRA : GL_RGBA)
        nearest = try Program(GLShaders.tileVertex, GLShaders.nearestFragment, attributes: [2, 2, 4])
        weighted = try Program(GLShaders.tileVertex, GLShaders.weightedFragment, attributes: [2, 2, 4])
        shapes = try Program(GLShaders.shapeVertex, GLShaders.shapeFragment, attributes: [2, 2, 4])
        var layers: GLint = 0
        glGetIntegerv(GLenum(GL_MAX_ARRAY_TEXTURE_LAYERS), &layers)
        maximumSlots = Int(layers)
        glGenBuffers(GLsizei(buffers.count), &buffers)
        glBlendFuncSeparate(
            GLenum(GL_SRC_ALPHA),
            GLenum(GL_ONE_MINUS_SRC_ALPHA),
            GLenum(GL_ONE),
            GLenum(GL_ONE_MINUS_SRC_ALPHA)
        )
        collectMessages()
    }

    deinit {
        collect(nil)
        useWindow()
        glDeleteTextures(1, &array)
        glDeleteTextures(1, &letters)
        glDeleteBuffers(GLsizei(buffers.count), &buffers)
    }

    /// Driver and version, such as `llvmpipe (LLVM 15.0.6, 256 bits), OpenGL 3.3`.
    var name: String {
        func text(_ name: Int32) -> String {
            glGetString(GLenum(name)).map { String(cString: $0) } ?? "unknown"
        }
        return "\(text(GL_RENDERER)), OpenGL \(text(GL_VERSION))"
    }

    /// Whether Mesa draws by the processor, for lack of a graphics card.
    var usesProcessor: Bool { ["llvmpipe", "softpipe", "swrast"].contains { name.contains($0) } }

    // MARK: Slots

    /// Changes the number of slots and keeps the contents of those that remain and are in use.
    ///
    /// - Throws: ``ViewerError`` if OpenGL has no memory for them; the old ones remain.
    func resizeSlots(to count: Int, isUsed: (Int) -> Bool) throws {
        guard count != slotCount, count > 0 else { return }
        var new: GLuint = 0
        let kind = GLenum(GL_TEXTURE_2D_ARRAY)
        let (width, height) = (GLsizei(slotWidth), GLsizei(slotHeight))
        // An error of an earlier call would be taken for one of the allocation. A lost context has errors without end.
        for _ in 0..<16 where glGetError() == GLenum(GL_NO_ERROR) { break }
        glGenTextures(1, &new)
        glBindTexture(kind, new)
        glTexImage3D(
            kind,
            0,
            GL_RGBA8,
            width,
            height,
            GLsizei(count),
            0,
            GLenum(GL_RGBA),
            GLenum(GL_UNSIGNED_BYTE),
            nil
        )
        guard glGetError() == GLenum(GL_NO_ERROR) else {
            glDeleteTextures(1, &new)
            throw ViewerError(
                "OpenGL has no memory for \(count) texture slots of \(slotWidth)x\(slotHeight) pixels; fewer were "
                    + "expected (--texture-slots)"
            )
        }
        for (name, value) in [
            (GL_TEXTURE_MIN_FILTER, GL_NEAREST), (GL_TEXTURE_MAG_FILTER, GL_NEAREST), (GL_TEXTURE_MAX_LEVEL, 0),
        ] { glTexParameteri(kind, GLenum(name), value) }
        if array != 0 {
            var reader: GLuint = 0
            glGenFramebuffers(1, &reader)
            glBindFramebuffer(GLenum(GL_READ_FRAMEBUFFER), reader)
            for slot in 0..<min(count, slotCount) where isUsed(slot) {
                glFramebufferTextureLayer(
                    GLenum(GL_READ_FRAMEBUFFER),
                    GLenum(GL_COLOR_ATTACHMENT0),
                    array,
                    0,
                    GLint(slot)
                )
                glCopyTexSubImage3D(kind, 0, 0, 0, GLint(slot), 0, 0, width, height)
            }
            glBindFramebuffer(GLenum(GL_READ_FRAMEBUFFER), target.framebuffer)
            glDeleteFramebuffers(1, &reader)
            glDeleteTextures(1, &array)
        }
        (array, slotCount) = (new, count)
    }

    /// Copies tiles to slots through a pixel buffer object.
    func upload(_ uploads: [TextureUpload]) {
        guard !uploads.isEmpty else { return }
        let kind = GLenum(GL_PIXEL_UNPACK_BUFFER)
        let sizes = uploads.map { $0.tile.withUnsafeBytes { $0.count } }
        let total = sizes.reduce(0, +)
        glBindBuffer(kind, buffers[nextBuffer])
        nextBuffer = (nextBuffer + 1) % buffers.count
        glBufferData(kind, total, nil, GLenum(GL_STREAM_DRAW))
        let access = GLbitfield(GL_MAP_WRITE_BIT | GL_MAP_INVALIDATE_BUFFER_BIT)
        var isFilled = false
        if let memory = glMapBufferRange(kind, 0, total, access) {
            var offset = 0
            for (upload, size) in zip(uploads, sizes) {
                upload.tile.withUnsafeBytes { bytes in
                    if let base = bytes.baseAddress { memcpy(memory + offset, base, size) }
                }
                offset += size
            }
            isFilled = glUnmapBuffer(kind) == GLboolean(GL_TRUE)
        }
        // A buffer may be lost, for example if the display's mode changes.
        if !isFilled { glBindBuffer(kind, 0) }
        glBindTexture(GLenum(GL_TEXTURE_2D_ARRAY), array)
        var offset = 0
        for (upload, size) in zip(uploads, sizes) {
            if isFilled {
                copy(upload, from: UnsafeRawPointer(bitPattern: offset))
            } else {
                upload.tile.withUnsafeBytes { copy(upload, from: $0.baseAddress) }
            }
            offset += size
        }
        glPixelStorei(GLenum(GL_UNPACK_ROW_LENGTH), 0)
        glBindBuffer(kind, 0)
    }

    private func copy(_ upload: TextureUpload, from pixels: UnsafeRawPointer?) {
        let tile = upload.tile
        glPixelStorei(GLenum(GL_UNPACK_ROW_LENGTH), GLint(tile.bytesPerRow / 4))
        glTexSubImage3D(
            GLenum(GL_TEXTURE_2D_ARRAY),
            0,
            0,
            0,
            GLint(upload.slot),
            GLsizei(tile.width),
            GLsizei(tile.height),
            1,
            order,
            GLenum(GL_UNSIGNED_BYTE),
            pixels
        )
    }

    /// Sets the picture of the letters: white, with alpha, four bytes a pixel.
    func setLetters(_ pixels: UnsafeRawPointer, width: Int, height: Int, bytesPerRow: Int) {
        let kind = GLenum(GL_TEXTURE_2D)
        glDeleteTextures(1, &letters)
        glGenTextures(1, &letters)
        glBindTexture(kind, letters)
        glPixelStorei(GLenum(GL_UNPACK_ROW_LENGTH), GLint(bytesPerRow / 4))
        glTexImage2D(
            kind,
            0,
            GL_RGBA8,
            GLsizei(width),
            GLsizei(height),
            0,
            GLenum(GL_RGBA),
            GLenum(GL_UNSIGNED_BYTE),
            pixels
        )
        glPixelStorei(GLenum(GL_UNPACK_ROW_LENGTH), 0)
        for (name, value) in [
            (GL_TEXTURE_MIN_FILTER, GL_NEAREST), (GL_TEXTURE_MAG_FILTER, GL_NEAREST), (GL_TEXTURE_MAX_LEVEL, 0),
        ] { glTexParameteri(kind, GLenum(name), value) }
    }

    // MARK: Drawing

    /// Clears the target.
    func clear(_ colour: Colour, width: Int, height: Int) {
        glViewport(0, 0, GLsizei(width), GLsizei(height))
        let channels = [colour.red, colour.green, colour.blue].map { Float($0) / 255 }
        glClearColor(channels[0], channels[1], channels[2], 1)
        glClear(GLbitfield(GL_COLOR_BUFFER_BIT))
    }

    /// Draws placements from the slots. They do not overlap: the viewer has one layer.
    ///
    /// - Parameters:
    ///   - area: Area of the pane that the quads belong to, in pixels of the target.
    ///   - windowHeight: Height of the target.
    func draw(_ quads: [TileQuad], in area: PixelRectangle, windowHeight: Int) {
        guard array != 0 else { return }
        // OpenGL counts rows from below.
        glViewport(
            GLint(area.x),
            GLint(windowHeight - area.y - area.height),
            GLsizei(area.width),
            GLsizei(area.height)
        )
        glBindTexture(GLenum(GL_TEXTURE_2D_ARRAY), array)
        if isOpaque { glDisable(GLenum(GL_BLEND)) } else { glEnable(GLenum(GL_BLEND)) }
        for (program, isNearest) in [(nearest, true), (weighted, false)] {
            var vertices: [Float] = []
            for quad in quads where quad.isNearest == isNearest { quad.append(to: &vertices) }
            guard !vertices.isEmpty else { continue }
            program.draw(vertices, width: area.width, height: area.height, isOpaque: isOpaque)
        }
    }

    /// Draws shapes over them.
    func draw(_ mesh: ShapeMesh, width: Int, height: Int) {
        guard !mesh.vertices.isEmpty, letters != 0 else { return }
        glViewport(0, 0, GLsizei(width), GLsizei(height))
        glBindTexture(GLenum(GL_TEXTURE_2D), letters)
        glEnable(GLenum(GL_BLEND))
        shapes.draw(mesh.vertices, width: width, height: height, isOpaque: false)
    }

    func flush() { glFlush() }

    /// Waits until all is drawn.
    func finish() { glFinish() }

    // MARK: Targets

    /// Draws off-screen from now on.
    func useTarget(width: Int, height: Int) throws {
        useWindow()
        glGenFramebuffers(1, &target.framebuffer)
        glGenRenderbuffers(1, &target.pixels)
        glBindRenderbuffer(GLenum(GL_RENDERBUFFER), target.pixels)
        glRenderbufferStorage(GLenum(GL_RENDERBUFFER), GLenum(GL_RGBA8), GLsizei(width), GLsizei(height))
        glBindFramebuffer(GLenum(GL_FRAMEBUFFER), target.framebuffer)
        glFramebufferRenderbuffer(
            GLenum(GL_FRAMEBUFFER),
            GLenum(GL_COLOR_ATTACHMENT0),
            GLenum(GL_RENDERBUFFER),
            target.pixels
        )
        guard glCheckFramebufferStatus(GLenum(GL_FRAMEBUFFER)) == GLenum(GL_FRAMEBUFFER_COMPLETE) else {
            useWindow()
            throw ViewerError("OpenGL cannot draw off-screen at \(width)x\(height)")
        }
    }

    /// Draws into the window, as at first.
    func useWindow() {
        glBindFramebuffer(GLenum(GL_FRAMEBUFFER), 0)
        if target.framebuffer != 0 { glDeleteFramebuffers(1, &target.framebuffer) }
        if target.pixels != 0 { glDeleteRenderbuffers(1, &target.pixels) }
        target = (0, 0)
    }

    /// Pixels of the target: four bytes each, red first, rows from the top.
    func readPixels(width: Int, height: Int) -> [UInt8] {
        let row = width * 4
        var flipped = [UInt8](repeating: 0, count: row * height)
        glPixelStorei(GLenum(GL_PACK_ALIGNMENT), 4)
        flipped.withUnsafeMutableBytes {
            glReadPixels(
                0,
                0,
                GLsizei(width),
                GLsizei(height),
                GLenum(GL_RGBA),
                GLenum(GL_UNSIGNED_BYTE),
                $0.baseAddress
            )
        }
        var pixels: [UInt8] = []
        pixels.reserveCapacity(flipped.count)
        for line in (0..<height).reversed() { pixels += flipped[line * row..<(line + 1) * row] }
        return pixels
    }

    // MARK: Messages

    private typealias Report =
        @convention(c) (
            GLenum, GLenum, GLuint, GLenum, GLsizei, UnsafePointer<CChar>?, UnsafeRawPointer?
        ) -> Void

    /// KHR_debug, which OpenGL 3.3 itself lacks.
    private func collectMessages() {
        var flags: GLint = 0
        glGetIntegerv(GLenum(0x821E), &flags)  // GL_CONTEXT_FLAGS
        guard flags & 2 != 0, SDL_GL_ExtensionSupported("GL_KHR_debug") == SDL_TRUE,
            SDL_GL_GetProcAddress("glDebugMessageCallback") != nil
        else { return }
        isDebugging = true
        collect { _, _, _, severity, _, text, context in
            let notification = GLenum(0x826B)
            guard severity != notification, let text, let context else { return }
            Unmanaged<Messages>.fromOpaque(context).takeUnretainedValue().append(String(cString: text))
        }
        glEnable(0x92E0)  // GL_DEBUG_OUTPUT
        glEnable(0x8242)  // GL_DEBUG_OUTPUT_SYNCHRONOUS
    }

    /// Sets the context's only receiver of messages.
    private func collect(_ report: Report?) {
        guard isDebugging, let function = SDL_GL_GetProcAddress("glDebugMessageCallback") else { return }
        typealias Register = @convention(c) (Report?, UnsafeRawPointer?) -> Void
        unsafeBitCast(function, to: Register.self)(report, Unmanaged.passUnretained(messages).toOpaque())
    }

    /// Makes an error on purpose, of which a debug context has a message.
    func makeError() { glEnable(GLenum(GL_RGBA8)) }
}

/// A linked program with its vertices.
private final class Program {
    private let program: GLuint
    private var array: GLuint = 0
    private var buffer: GLuint = 0
    private let stride: Int
    private let screen: GLint
    private let opaque: GLint

    /// - Parameter attributes: Numbers of each attribute, in order of their locations.
    init(_ vertex: String, _ fragment: String, attributes: [Int]) throws {
        program = glCreateProgram()
        stride = attributes.reduce(0, +)
        for (kind, source) in [(GL_VERTEX_SHADER, vertex), (GL_FRAGMENT_SHADER, fragment)] {
            let shader = glCreateShader(GLenum(kind))
            source.withCString { text in
                var text: UnsafePointer<CChar>? = text
                glShaderSource(shader, 1, &text, nil)
            }
            glCompileShader(shader)
            var isCompiled: GLint = 0
            glGetShaderiv(shader, GLenum(GL_COMPILE_STATUS), &isCompiled)
            guard isCompiled != 0 else {
                var log = [CChar](repeating: 0, count: 2048)
                glGetShaderInfoLog(shader, GLsizei(log.count - 1), nil, &log)
                throw ViewerError("a shader was refused: \(log.withUnsafeBufferPointer { Self.text($0) })")
            }
            glAttachShader(program, shader)
            glDeleteShader(shader)
        }
        glLinkProgram(program)
        var isLinked: GLint = 0
        glGetProgramiv(program, GLenum(GL_LINK_STATUS), &isLinked)
        guard isLinked != 0 else { throw ViewerError("the shaders cannot be linked") }
        screen = glGetUniformLocation(program, "screen")
        opaque = glGetUniformLocation(program, "opaque")
        glGenVertexArrays(1, &array)
        glGenBuffers(1, &buffer)
        glBindVertexArray(array)
        glBindBuffer(GLenum(GL_ARRAY_BUFFER), buffer)
        var offset = 0
        for (index, count) in attributes.enumerated() {
            glVertexAttribPointer(
                GLuint(index),
                GLint(count),
                GLenum(GL_FLOAT),
                GLboolean(GL_FALSE),
                GLsizei(stride * 4),
                UnsafeRawPointer(bitPattern: offset * 4)
            )
            glEnableVertexAttribArray(GLuint(index))
            offset += count
        }
    }

    private static func text(_ log: UnsafeBufferPointer<CChar>) -> String {
        log.baseAddress.map { String(cString: $0) } ?? ""
    }

    deinit {
        glDeleteProgram(program)
        glDeleteVertexArrays(1, &array)
        glDeleteBuffers(1, &buffer)
    }

    func draw(_ vertices: [Float], width: Int, height: Int, isOpaque: Bool) {
        glUseProgram(program)
        glUniform2f(screen, Float(width), Float(height))
        if opaque >= 0 { glUniform1f(opaque, isOpaque ? 1 : 0) }
        glBindVertexArray(array)
        glBindBuffer(GLenum(GL_ARRAY_BUFFER), buffer)
        vertices.withUnsafeBytes {
            glBufferData(GLenum(GL_ARRAY_BUFFER), $0.count, $0.baseAddress, GLenum(GL_STREAM_DRAW))
        }
        glDrawArrays(GLenum(GL_TRIANGLES), 0, GLsizei(vertices.count / stride))
    }
}
