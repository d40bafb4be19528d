/// Shaders in GLSL 3.30. Positions are in pixels from the upper left corner.
enum GLShaders {
    static let tileVertex = """
        #version 330 core
        layout(location = 0) in vec2 position;
        layout(location = 1) in vec2 texel;
        layout(location = 2) in vec4 slot;  // slot, unused, last column, last row
        uniform vec2 screen;
        out vec2 place;
        flat out vec4 source;
        void main() {
            gl_Position = vec4(position.x / screen.x * 2.0 - 1.0, 1.0 - position.y / screen.y * 2.0, 0.0, 1.0);
            place = texel;
            source = slot;
        }
        """

    private static let tileHead = """
        #version 330 core
        uniform sampler2DArray tiles;
        uniform float opaque;
        in vec2 place;
        flat in vec4 source;
        out vec4 colour;
        vec4 texel(ivec2 at) {
            return texelFetch(tiles, ivec3(clamp(at, ivec2(0), ivec2(source.zw)), int(source.x)), 0);
        }

        """

    /// One pixel of the slot for each of the screen. A program of its own, since some processors run both branches.
    static let nearestFragment =
        tileHead + """
            void main() {
                colour = texel(ivec2(floor(place)));
                colour.a = max(colour.a, opaque);
            }
            """

    /// Weights pixels itself: the weights of samplers have as few as eight bits, and would average undefined pixels in.
    static let weightedFragment =
        tileHead + """
            void main() {
                vec2 corner = floor(place - 0.5);
                vec2 weight = place - 0.5 - corner;
                ivec2 at = ivec2(corner);
                vec4 upper = mix(texel(at), texel(at + ivec2(1, 0)), weight.x);
                vec4 lower = mix(texel(at + ivec2(0, 1)), texel(at + ivec2(1, 1)), weight.x);
                colour = mix(upper, lower, weight.y);
                colour.a = max(colour.a, opaque);
            }
            """

    static let shapeVertex = """
        #version 330 core
        layout(location = 0) in vec2 position;
        layout(location = 1) in vec2 texel;
        layout(location = 2) in vec4 paint;
        uniform vec2 screen;
        out vec2 place;
        flat out vec4 tint;
        void main() {
            gl_Position = vec4(position.x / screen.x * 2.0 - 1.0, 1.0 - position.y / screen.y * 2.0, 0.0, 1.0);
            place = texel;
            tint = paint;
        }
        """

    static let shapeFragment = """
        #version 330 core
        uniform sampler2D letters;
        in vec2 place;
        flat in vec4 tint;
        out vec4 colour;
        void main() {
            colour = tint;
            if (place.x >= 0.0) colour.a *= texelFetch(letters, ivec2(floor(place)), 0).a;
        }
        """
}
