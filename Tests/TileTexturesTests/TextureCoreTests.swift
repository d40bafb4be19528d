@testable import TileTextures
