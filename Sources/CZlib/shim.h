#ifndef STARWATCH_CZLIB_SHIM_H
#define STARWATCH_CZLIB_SHIM_H

#include <string.h>
#include <zlib.h>

// Swift does not import the macros deflateInit2 and inflateInit2. `windowBits` 15 + 16 selects the gzip format.

/// Prepares `stream` to write gzip. `level` is 0 to 9, or -1 for zlib's default. Returns Z_OK or a zlib error.
static inline int starwatch_deflate_init_gzip(z_stream *stream, int level) {
    memset(stream, 0, sizeof(*stream));
    return deflateInit2(stream, level, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
}

/// Prepares `stream` to read gzip. Returns Z_OK or a zlib error.
static inline int starwatch_inflate_init_gzip(z_stream *stream) {
    memset(stream, 0, sizeof(*stream));
    return inflateInit2(stream, 15 + 16);
}

/// The upper bound of the gzip size of `length` bytes, including header and trailer.
static inline size_t starwatch_gzip_bound(size_t length) {
    return compressBound((uLong)length) + 32;
}

/// Writes `source` as one gzip member and resets the stream for the next one. starwatch_deflate_init_gzip must have
/// prepared the stream. Returns Z_OK and sets `*written`, or Z_BUF_ERROR when `target` is too small.
static inline int starwatch_gzip(
    z_stream *stream, const unsigned char *source, size_t length, unsigned char *target, size_t capacity,
    size_t *written) {
    stream->next_in = (Bytef *)source;
    stream->avail_in = (uInt)length;
    stream->next_out = target;
    stream->avail_out = (uInt)capacity;
    int code = deflate(stream, Z_FINISH);
    *written = (size_t)stream->total_out;
    deflateReset(stream);
    return code == Z_STREAM_END ? Z_OK : Z_BUF_ERROR;
}

#endif
