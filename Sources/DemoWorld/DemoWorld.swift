import TileCache
