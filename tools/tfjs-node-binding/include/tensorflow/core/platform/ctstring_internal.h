// Strings in tensors; see ../../c/c_api.h. The binding calls names of TensorFlow's inline functions; the library exports
// the same functions under the names below.
#ifndef HINDCAST_TENSORFLOW_CTSTRING_INTERNAL_H_
#define HINDCAST_TENSORFLOW_CTSTRING_INTERNAL_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Opaque here; its size and alignment are part of the ABI (24 bytes on 64-bit machines). */
typedef struct TF_TString {
  uint64_t opaque[3];
} TF_TString;

void TF_StringInit(TF_TString *t);
void TF_StringCopy(TF_TString *dst, const char *src, size_t size);
const char *TF_StringGetDataPointer(const TF_TString *tstr);
size_t TF_StringGetSize(const TF_TString *tstr);
void TF_StringDealloc(TF_TString *tstr);

#ifdef __cplusplus
}
#endif

static inline void TF_TString_Init(TF_TString *t) { TF_StringInit(t); }
static inline void TF_TString_Copy(TF_TString *dst, const char *src, size_t size) { TF_StringCopy(dst, src, size); }
static inline const char *TF_TString_GetDataPointer(const TF_TString *t) { return TF_StringGetDataPointer(t); }
static inline size_t TF_TString_GetSize(const TF_TString *t) { return TF_StringGetSize(t); }
static inline void TF_TString_Dealloc(TF_TString *t) { TF_StringDealloc(t); }

#endif
