#include <SDL.h>
/* SDL's own bitmap font: enough for an overlay, and nothing more to install. */
#include <SDL_test_font.h>
