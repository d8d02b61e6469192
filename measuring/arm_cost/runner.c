/*
 * Runs the first signature of a .tflite model by LiteRT, on one thread, and marks where each run ends.
 *
 *     runner MODEL WARMUPS RUNS
 *
 * A mark is a system call of the number MARK, which counter.c sees. After the warm-up come two, whose
 * distance is what a mark itself costs, then one after each run. Any failure ends it with status 2 and a line.
 */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* LiteRT's C interface, version 2.3, as far as needed. Each function returns 0 where all is well. */
typedef struct environment *Environment;
typedef struct model *Model;
typedef struct signature *Signature;
typedef struct tensor *Tensor;
typedef struct options *Options;
typedef struct opaque_options *OpaqueOptions;
typedef struct compiled_model *CompiledModel;
typedef struct requirements *Requirements;
typedef struct buffer *Buffer;

enum { CPU = 1, FOR_WRITING = 1, HIGHEST_RANK = 8, MOST_TENSORS = 16 };
enum { FLOAT32 = 1, UINT8 = 3, INT8 = 9 };

typedef struct {
    int element;
    unsigned int rank : 7;
    unsigned int has_strides : 1;
    int32_t sizes[HIGHEST_RANK];
    uint32_t strides[HIGHEST_RANK];
} TensorType;

int LiteRtCreateEnvironment(int count, const void *settings, Environment *);
int LiteRtCreateModelFromFile(Environment, const char *path, Model *);
int LiteRtGetModelSignature(Model, size_t index, Signature *);
int LiteRtGetNumSignatureInputs(Signature, size_t *);
int LiteRtGetNumSignatureOutputs(Signature, size_t *);
int LiteRtGetSignatureInputTensorByIndex(Signature, size_t index, Tensor *);
int LiteRtGetSignatureOutputTensorByIndex(Signature, size_t index, Tensor *);
int LiteRtGetRankedTensorType(Tensor, TensorType *);
int LiteRtCreateOptions(Options *);
int LiteRtSetOptionsHardwareAccelerators(Options, int accelerators);
int LiteRtCreateOpaqueOptions(const char *name, void *text, void (*release)(void *), OpaqueOptions *);
int LiteRtAddOpaqueOptions(Options, OpaqueOptions);
int LiteRtCreateCompiledModel(Environment, Model, Options, CompiledModel *);
int LiteRtGetCompiledModelInputBufferRequirements(CompiledModel, size_t signature, size_t index,
                                                  Requirements *);
int LiteRtGetCompiledModelOutputBufferRequirements(CompiledModel, size_t signature, size_t index,
                                                   Requirements *);
int LiteRtCreateManagedTensorBufferFromRequirements(Environment, const TensorType *, Requirements, Buffer *);
int LiteRtGetTensorBufferPackedSize(Buffer, size_t *);
int LiteRtLockTensorBuffer(Buffer, void **memory, int mode);
int LiteRtUnlockTensorBuffer(Buffer);
int LiteRtRunCompiledModel(CompiledModel, size_t signature, size_t inputs, Buffer *, size_t outputs,
                           Buffer *);

static Environment environment;
static CompiledModel compiled;
static Buffer inputs[MOST_TENSORS], outputs[MOST_TENSORS];
static size_t num_inputs, num_outputs;

static void fail(const char *what)
{
    fprintf(stderr, "runner: %s\n", what);
    exit(2);
}

static void check(int status, const char *what)
{
    if (status != 0) {
        fail(what);
    }
}

/* One thread, and XNNPACK for all that it can do. */
static Options make_options(void)
{
    char *text = strdup("kernel_mode = \"delegate\"\nnum_threads = 1\n");
    Options options;
    OpaqueOptions xnnpack;
    check(LiteRtCreateOptions(&options), "LiteRT makes no options");
    check(LiteRtSetOptionsHardwareAccelerators(options, CPU), "LiteRT does not take the CPU");
    check(LiteRtCreateOpaqueOptions("xnnpack", text, free, &xnnpack), "LiteRT makes no options");
    check(LiteRtAddOpaqueOptions(options, xnnpack), "LiteRT takes no options");
    return options;
}

static TensorType fixed_type(Tensor tensor)
{
    TensorType type;
    check(LiteRtGetRankedTensorType(tensor, &type), "an input or output has no fixed rank");
    for (unsigned int i = 0; i < type.rank; i++) {
        if (type.sizes[i] < 0) {
            fail("an input or output has an open size: export the model with a batch of 1");
        }
    }
    return type;
}

/* Always the same values: a ramp of images, or zeros, which suit indices and masks. */
static void fill(Buffer buffer, int element)
{
    void *memory;
    size_t bytes;
    check(LiteRtGetTensorBufferPackedSize(buffer, &bytes), "an input has no size");
    check(LiteRtLockTensorBuffer(buffer, &memory, FOR_WRITING), "an input cannot be written");
    memset(memory, 0, bytes);
    for (size_t i = 0; element == FLOAT32 && i < bytes / sizeof(float); i++) {
        ((float *)memory)[i] = (float)(i * 37 % 251) / 250.0f;
    }
    for (size_t i = 0; (element == INT8 || element == UINT8) && i < bytes; i++) {
        ((uint8_t *)memory)[i] = (uint8_t)(i * 37 % 251);
    }
    check(LiteRtUnlockTensorBuffer(buffer), "an input cannot be written");
}

static void make_buffers(Signature signature)
{
    Tensor tensor;
    TensorType type;
    Requirements needs;
    check(LiteRtGetNumSignatureInputs(signature, &num_inputs), "the inputs cannot be counted");
    check(LiteRtGetNumSignatureOutputs(signature, &num_outputs), "the outputs cannot be counted");
    if (num_inputs > MOST_TENSORS || num_outputs > MOST_TENSORS) {
        fail("there are more than 16 inputs or outputs");
    }
    for (size_t i = 0; i < num_inputs; i++) {
        check(LiteRtGetSignatureInputTensorByIndex(signature, i, &tensor), "an input is missing");
        type = fixed_type(tensor);
        check(LiteRtGetCompiledModelInputBufferRequirements(compiled, 0, i, &needs), "an input has no size");
        check(LiteRtCreateManagedTensorBufferFromRequirements(environment, &type, needs, &inputs[i]),
              "there is no memory for an input");
        fill(inputs[i], type.element);
    }
    for (size_t i = 0; i < num_outputs; i++) {
        check(LiteRtGetSignatureOutputTensorByIndex(signature, i, &tensor), "an output is missing");
        type = fixed_type(tensor);
        check(LiteRtGetCompiledModelOutputBufferRequirements(compiled, 0, i, &needs),
              "an output has no size");
        check(LiteRtCreateManagedTensorBufferFromRequirements(environment, &type, needs, &outputs[i]),
              "there is no memory for an output");
    }
}

static void load(const char *path)
{
    Model model;
    Signature signature;
    check(LiteRtCreateEnvironment(0, NULL, &environment), "LiteRT does not start");
    check(LiteRtCreateModelFromFile(environment, path, &model), "LiteRT cannot read the model");
    check(LiteRtGetModelSignature(model, 0, &signature), "the model has no signature");
    check(LiteRtCreateCompiledModel(environment, model, make_options(), &compiled),
          "LiteRT cannot prepare the model");
    make_buffers(signature);
}

static void run(void)
{
    check(LiteRtRunCompiledModel(compiled, 0, num_inputs, inputs, num_outputs, outputs),
          "LiteRT cannot run the model");
}

int main(int count, char **arguments)
{
    if (count != 4) {
        fail("usage: runner MODEL WARMUPS RUNS");
    }
    load(arguments[1]);
    for (int i = atoi(arguments[2]); i > 0; i--) {
        run();
    }
    syscall(MARK);
    syscall(MARK);
    for (int i = atoi(arguments[3]); i > 0; i--) {
        run();
        syscall(MARK);
    }
    _exit(0); /* LiteRT's own end is of no interest */
}
