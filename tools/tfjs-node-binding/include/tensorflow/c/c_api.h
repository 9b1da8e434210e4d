// The part of TensorFlow's C interface that tfjs-node's binding calls, for a libtensorflow that comes without headers.
// Names, types and numbers are TensorFlow's stable C ABI; a library that brings its own headers is compiled against those.
#ifndef HINDCAST_TENSORFLOW_C_API_H_
#define HINDCAST_TENSORFLOW_C_API_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum TF_DataType {
  TF_FLOAT = 1,
  TF_DOUBLE = 2,
  TF_INT32 = 3,
  TF_UINT8 = 4,
  TF_INT16 = 5,
  TF_INT8 = 6,
  TF_STRING = 7,
  TF_COMPLEX64 = 8,
  TF_INT64 = 9,
  TF_BOOL = 10,
  TF_QINT8 = 11,
  TF_QUINT8 = 12,
  TF_QINT32 = 13,
  TF_BFLOAT16 = 14,
  TF_QINT16 = 15,
  TF_QUINT16 = 16,
  TF_UINT16 = 17,
  TF_COMPLEX128 = 18,
  TF_HALF = 19,
  TF_RESOURCE = 20,
  TF_VARIANT = 21,
  TF_UINT32 = 22,
  TF_UINT64 = 23
} TF_DataType;

typedef enum TF_Code {
  TF_OK = 0,
  TF_CANCELLED = 1,
  TF_UNKNOWN = 2,
  TF_INVALID_ARGUMENT = 3,
  TF_DEADLINE_EXCEEDED = 4,
  TF_NOT_FOUND = 5,
  TF_ALREADY_EXISTS = 6,
  TF_PERMISSION_DENIED = 7,
  TF_RESOURCE_EXHAUSTED = 8,
  TF_FAILED_PRECONDITION = 9,
  TF_ABORTED = 10,
  TF_OUT_OF_RANGE = 11,
  TF_UNIMPLEMENTED = 12,
  TF_INTERNAL = 13,
  TF_UNAVAILABLE = 14,
  TF_DATA_LOSS = 15,
  TF_UNAUTHENTICATED = 16
} TF_Code;

typedef enum TF_AttrType {
  TF_ATTR_STRING = 0,
  TF_ATTR_INT = 1,
  TF_ATTR_FLOAT = 2,
  TF_ATTR_BOOL = 3,
  TF_ATTR_TYPE = 4,
  TF_ATTR_SHAPE = 5,
  TF_ATTR_TENSOR = 6,
  TF_ATTR_PLACEHOLDER = 7,
  TF_ATTR_FUNC = 8
} TF_AttrType;

typedef struct TF_Status TF_Status;
typedef struct TF_Tensor TF_Tensor;
typedef struct TF_Graph TF_Graph;
typedef struct TF_Operation TF_Operation;
typedef struct TF_Session TF_Session;
typedef struct TF_SessionOptions TF_SessionOptions;
typedef struct TF_DeviceList TF_DeviceList;

typedef struct TF_Output {
  TF_Operation *oper;
  int index;
} TF_Output;

typedef struct TF_Buffer {
  const void *data;
  size_t length;
  void (*data_deallocator)(void *data, size_t length);
} TF_Buffer;

const char *TF_Version(void);
size_t TF_DataTypeSize(TF_DataType dt);

TF_Status *TF_NewStatus(void);
void TF_DeleteStatus(TF_Status *);
TF_Code TF_GetCode(const TF_Status *s);
const char *TF_Message(const TF_Status *s);

TF_Buffer *TF_NewBuffer(void);
TF_Buffer *TF_NewBufferFromString(const void *proto, size_t proto_len);
void TF_DeleteBuffer(TF_Buffer *);

TF_Tensor *TF_NewTensor(TF_DataType, const int64_t *dims, int num_dims, void *data, size_t len,
                        void (*deallocator)(void *data, size_t len, void *arg), void *deallocator_arg);
TF_Tensor *TF_AllocateTensor(TF_DataType, const int64_t *dims, int num_dims, size_t len);
void TF_DeleteTensor(TF_Tensor *);
TF_DataType TF_TensorType(const TF_Tensor *);
int TF_NumDims(const TF_Tensor *);
int64_t TF_Dim(const TF_Tensor *tensor, int dim_index);
size_t TF_TensorByteSize(const TF_Tensor *);
void *TF_TensorData(const TF_Tensor *);
int64_t TF_TensorElementCount(const TF_Tensor *tensor);

TF_Graph *TF_NewGraph(void);
void TF_DeleteGraph(TF_Graph *);
TF_Operation *TF_GraphOperationByName(TF_Graph *graph, const char *oper_name);

TF_SessionOptions *TF_NewSessionOptions(void);
void TF_DeleteSessionOptions(TF_SessionOptions *);
TF_Session *TF_LoadSessionFromSavedModel(const TF_SessionOptions *session_options, const TF_Buffer *run_options,
                                         const char *export_dir, const char *const *tags, int tags_len,
                                         TF_Graph *graph, TF_Buffer *meta_graph_def, TF_Status *status);
void TF_DeleteSession(TF_Session *, TF_Status *status);
void TF_SessionRun(TF_Session *session, const TF_Buffer *run_options, const TF_Output *inputs,
                   TF_Tensor *const *input_values, int ninputs, const TF_Output *outputs, TF_Tensor **output_values,
                   int noutputs, const TF_Operation *const *target_opers, int ntargets, TF_Buffer *run_metadata,
                   TF_Status *);

void TF_DeleteDeviceList(TF_DeviceList *list);
int TF_DeviceListCount(const TF_DeviceList *list);
const char *TF_DeviceListName(const TF_DeviceList *list, int index, TF_Status *status);
const char *TF_DeviceListType(const TF_DeviceList *list, int index, TF_Status *status);

#ifdef __cplusplus
}
#endif

#endif
