// Eager execution; see ../c_api.h.
#ifndef HINDCAST_TENSORFLOW_C_EAGER_C_API_H_
#define HINDCAST_TENSORFLOW_C_EAGER_C_API_H_

#include "tensorflow/c/c_api.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct TFE_ContextOptions TFE_ContextOptions;
typedef struct TFE_Context TFE_Context;
typedef struct TFE_TensorHandle TFE_TensorHandle;
typedef struct TFE_Op TFE_Op;

TFE_ContextOptions *TFE_NewContextOptions(void);
void TFE_DeleteContextOptions(TFE_ContextOptions *);
TFE_Context *TFE_NewContext(const TFE_ContextOptions *opts, TF_Status *status);
void TFE_DeleteContext(TFE_Context *ctx);
TF_DeviceList *TFE_ContextListDevices(TFE_Context *ctx, TF_Status *status);

TFE_TensorHandle *TFE_NewTensorHandle(const TF_Tensor *t, TF_Status *status);
void TFE_DeleteTensorHandle(TFE_TensorHandle *h);
TF_DataType TFE_TensorHandleDataType(TFE_TensorHandle *h);
int TFE_TensorHandleNumDims(TFE_TensorHandle *h, TF_Status *status);
int64_t TFE_TensorHandleDim(TFE_TensorHandle *h, int dim_index, TF_Status *status);
TF_Tensor *TFE_TensorHandleResolve(TFE_TensorHandle *h, TF_Status *status);
TFE_TensorHandle *TFE_TensorHandleCopyToDevice(TFE_TensorHandle *h, TFE_Context *ctx, const char *device_name,
                                               TF_Status *status);

TFE_Op *TFE_NewOp(TFE_Context *ctx, const char *op_or_function_name, TF_Status *status);
void TFE_DeleteOp(TFE_Op *op);
void TFE_OpAddInput(TFE_Op *op, TFE_TensorHandle *input, TF_Status *status);
void TFE_OpSetAttrString(TFE_Op *op, const char *attr_name, const void *value, size_t length);
void TFE_OpSetAttrInt(TFE_Op *op, const char *attr_name, int64_t value);
void TFE_OpSetAttrFloat(TFE_Op *op, const char *attr_name, float value);
void TFE_OpSetAttrBool(TFE_Op *op, const char *attr_name, unsigned char value);
void TFE_OpSetAttrType(TFE_Op *op, const char *attr_name, TF_DataType value);
void TFE_OpSetAttrShape(TFE_Op *op, const char *attr_name, const int64_t *dims, const int num_dims,
                        TF_Status *out_status);
void TFE_OpSetAttrIntList(TFE_Op *op, const char *attr_name, const int64_t *values, int num_values);
void TFE_OpSetAttrFloatList(TFE_Op *op, const char *attr_name, const float *values, int num_values);
void TFE_OpSetAttrBoolList(TFE_Op *op, const char *attr_name, const unsigned char *values, int num_values);
void TFE_Execute(TFE_Op *op, TFE_TensorHandle **retvals, int *num_retvals, TF_Status *status);

#ifdef __cplusplus
}
#endif

#endif
