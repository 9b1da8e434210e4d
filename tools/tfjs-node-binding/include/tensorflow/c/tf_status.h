// See c_api.h, which declares all of it.
#include "tensorflow/c/c_api.h"
