// The system's libcurl, with a function for each argument type of its variadic ones.
#ifndef TILECACHE_CTILECURL_SHIM_H
#define TILECACHE_CTILECURL_SHIM_H
#include <curl/curl.h>
#ifdef __linux__
#include <signal.h>
#include <time.h>
#endif

static inline CURLcode tile_curl_set_long(CURL *easy, CURLoption option, long value) {
    return curl_easy_setopt(easy, option, value);
}
static inline CURLcode tile_curl_set_text(CURL *easy, CURLoption option, const char *value) {
    return curl_easy_setopt(easy, option, value);
}
static inline CURLcode tile_curl_set_pointer(CURL *easy, CURLoption option, void *value) {
    return curl_easy_setopt(easy, option, value);
}
static inline CURLcode tile_curl_set_list(CURL *easy, CURLoption option, struct curl_slist *value) {
    return curl_easy_setopt(easy, option, value);
}
typedef size_t (*tile_curl_data)(char *data, size_t size, size_t count, void *context);
static inline CURLcode tile_curl_set_function(CURL *easy, CURLoption option, tile_curl_data value) {
    return curl_easy_setopt(easy, option, value);
}
// HTTP only.
static inline void tile_curl_only_http(CURL *easy) {
#if LIBCURL_VERSION_NUM >= 0x075500
    curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(easy, CURLOPT_REDIR_PROTOCOLS_STR, "http,https");
#else
    curl_easy_setopt(easy, CURLOPT_PROTOCOLS, (long)(CURLPROTO_HTTP | CURLPROTO_HTTPS));
    curl_easy_setopt(easy, CURLOPT_REDIR_PROTOCOLS, (long)(CURLPROTO_HTTP | CURLPROTO_HTTPS));
#endif
}
// A transfer that ends while its host is looked up does not wait for the look-up's thread, which ends by itself: all
// transfers of the loop would wait with it, past their time-outs and though they are cancelled.
static inline void tile_curl_leave_lookup(CURL *easy, long leaves) {
#if LIBCURL_VERSION_NUM >= 0x075700
    curl_easy_setopt(easy, CURLOPT_QUICK_EXIT, leaves);
#else
    (void)easy, (void)leaves;
#endif
}
// HTTP/2 if the server agrees to it in the handshake of TLS (ALPN). The transfer waits for a connection to its server that
// is being made, if that may turn out to have room for it.
static inline void tile_curl_share_connections(CURL *easy, long waits) {
    curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_2TLS);
    curl_easy_setopt(easy, CURLOPT_PIPEWAIT, waits);
}
// Whether the transfer's host is still to be looked up.
static inline int tile_curl_is_looking_up(CURL *easy) {
    curl_off_t time = 0;
    return !curl_easy_getinfo(easy, CURLINFO_NAMELOOKUP_TIME_T, &time) && !time;
}
// Calls a function of libcurl's with SIGPIPE blocked on this thread, and drops what comes of it. libcurl before 7.87 lets
// OpenSSL write to a connection that the server has reset, which would end the program. On Apple platforms libcurl
// marks its sockets.
static inline void tile_curl_without_pipe_signal(void (*body)(void *), void *context) {
#ifdef __linux__
    sigset_t pipe, before;
    sigemptyset(&pipe);
    sigaddset(&pipe, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &pipe, &before);
    body(context);
    struct timespec none = {0, 0};
    if (!sigismember(&before, SIGPIPE)) sigtimedwait(&pipe, (siginfo_t *)0, &none);
    pthread_sigmask(SIG_SETMASK, &before, (sigset_t *)0);
#else
    body(context);
#endif
}
static inline long tile_curl_status(CURL *easy) {
    long status = 0;
    curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
    return status;
}
// Whether a request was sent: there was a connection.
static inline int tile_curl_has_sent(CURL *easy) {
    long bytes = 0;
    return !curl_easy_getinfo(easy, CURLINFO_REQUEST_SIZE, &bytes) && bytes > 0;
}
// What a transfer has used so far. Times are milliseconds.
typedef struct {
    // New connections that it has opened or tried to open.
    long connections;
    // From the begin to the request; 0 if there was none yet.
    double sent;
    // Of a new connection: from the address to the end of the last handshake.
    double handshake;
    // From the request to the first byte, and from there until now.
    double latency, body;
} tile_curl_usage;
static inline double tile_curl_time(CURL *easy, CURLINFO info) {
    curl_off_t microseconds = 0;
    return curl_easy_getinfo(easy, info, &microseconds) ? 0 : (double)microseconds / 1000;
}
static inline tile_curl_usage tile_curl_used(CURL *easy) {
    tile_curl_usage used = {0, 0, 0, 0, 0};
    curl_easy_getinfo(easy, CURLINFO_NUM_CONNECTS, &used.connections);
    double looked_up = tile_curl_time(easy, CURLINFO_NAMELOOKUP_TIME_T);
    double connected = tile_curl_time(easy, CURLINFO_CONNECT_TIME_T);
    double secured = tile_curl_time(easy, CURLINFO_APPCONNECT_TIME_T);
    double first = tile_curl_time(easy, CURLINFO_STARTTRANSFER_TIME_T);
    used.sent = tile_curl_has_sent(easy) ? tile_curl_time(easy, CURLINFO_PRETRANSFER_TIME_T) : 0;
    used.handshake = (secured > connected ? secured : connected) - looked_up;
    used.latency = first - used.sent;
    used.body = tile_curl_time(easy, CURLINFO_TOTAL_TIME_T) - first;
    return used;
}
// The address that the answer redirects to; NULL if it does not. Valid as long as the transfer.
static inline const char *tile_curl_redirection(CURL *easy) {
    char *address = (char *)0;
    curl_easy_getinfo(easy, CURLINFO_REDIRECT_URL, &address);
    return address;
}
// Seconds of the server's Retry-After; 0 if there is none.
static inline long tile_curl_retry_after(CURL *easy) {
    curl_off_t seconds = 0;
    curl_easy_getinfo(easy, CURLINFO_RETRY_AFTER, &seconds);
    return seconds > 0 && seconds < 1000000 ? (long)seconds : seconds > 0 ? 1000000 : 0;
}
// Servers bound streams by more than their number: Node refuses some of a hundred whose answers take 10 MB together.
static inline CURLMcode tile_curl_limit_connections(CURLM *multi, long count) {
    curl_multi_setopt(multi, CURLMOPT_MAXCONNECTS, count);
    curl_multi_setopt(multi, CURLMOPT_MAX_CONCURRENT_STREAMS, 32L);
    return curl_multi_setopt(multi, CURLMOPT_MAX_TOTAL_CONNECTIONS, count);
}
// A transfer that has ended, with its result; NULL if there is none.
static inline CURL *tile_curl_ended(CURLM *multi, CURLcode *result) {
    int left = 0;
    CURLMsg *message;
    while ((message = curl_multi_info_read(multi, &left)))
        if (message->msg == CURLMSG_DONE) {
            *result = message->data.result;
            return message->easy_handle;
        }
    return (CURL *)0;
}
#endif
