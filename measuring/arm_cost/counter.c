/*
 * A plugin of QEMU: counts the AArch64 instructions that a program executes, by kind.
 *
 * At each system call of the number MARK, which no kernel knows and runner.c makes, it appends a line with
 * all counts so far to the file of its argument "out=FILE", whose first line names the kinds.
 */
#include <inttypes.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* QEMU's plugin interface, version 1, as far as needed: Debian has no header for it. */
struct block;
struct instruction;
enum inline_operation { ADD_TO_COUNTER };
typedef void block_translated(uint64_t plugin, struct block *);
typedef void system_called(uint64_t plugin, unsigned int cpu, int64_t number, uint64_t, uint64_t, uint64_t,
                           uint64_t, uint64_t, uint64_t, uint64_t, uint64_t);

size_t qemu_plugin_tb_n_insns(const struct block *);
struct instruction *qemu_plugin_tb_get_insn(const struct block *, size_t index);
const void *qemu_plugin_insn_data(const struct instruction *);
void qemu_plugin_register_vcpu_tb_trans_cb(uint64_t plugin, block_translated *);
void qemu_plugin_register_vcpu_syscall_cb(uint64_t plugin, system_called *);
void qemu_plugin_register_vcpu_tb_exec_inline(struct block *, enum inline_operation, void *counter,
                                              uint64_t step);

#define EXPORTED __attribute__((visibility("default")))
EXPORTED int qemu_plugin_version = 1;

#define ALL_KINDS(X) X(dot) X(mmla) X(fma) X(long_multiply) X(load_store) X(simd) X(sve) X(other)
#define AS_CONSTANT(kind) kind,
#define AS_TEXT(kind) #kind " "
enum kind { ALL_KINDS(AS_CONSTANT) kinds };

/* An instruction is of the first kind in this table whose bits it has, else of the kind `other`. */
static const struct {
    uint32_t mask, bits;
    enum kind kind;
} encodings[] = {
    {0x9FE0FC00, 0x0E809400, dot},           /* sdot, udot of vectors */
    {0xBFE0FC00, 0x0E809C00, dot},           /* usdot of vectors */
    {0x9FC0F400, 0x0F80E000, dot},           /* sdot, udot by an element */
    {0xBF40F400, 0x0F00F000, dot},           /* usdot, sudot by an element */
    {0xDFE0F400, 0x4E80A400, mmla},          /* smmla, ummla, usmmla */
    {0xBF20FC00, 0x0E20CC00, fma},           /* fmla, fmls of 32 and 64 bits */
    {0xBF60FC00, 0x0E400C00, fma},           /* ... of 16 bits */
    {0xBF80B400, 0x0F801000, fma},           /* ... of 32 and 64 bits by an element */
    {0xBFC0B400, 0x0F001000, fma},           /* ... of 16 bits by an element */
    {0xFF000000, 0x1F000000, fma},           /* fmadd and its kin, of scalars */
    {0x9F20DC00, 0x0E208000, long_multiply}, /* [su]mlal, [su]mlsl */
    {0x9F20FC00, 0x0E20C000, long_multiply}, /* [su]mull */
    {0x9F00B400, 0x0F002000, long_multiply}, /* [su]mlal, [su]mlsl by an element */
    {0x9F00F400, 0x0F00A000, long_multiply}, /* [su]mull by an element */
    {0x1E000000, 0x04000000, sve},
    {0x9E000000, 0x80000000, sve},           /* SME */
    {0x0A000000, 0x08000000, load_store},
    {0x0E000000, 0x0E000000, simd},          /* what else there is of SIMD and floating point */
};

static uint64_t executed[kinds];
static FILE *output;

static enum kind kind_of(const struct instruction *instruction)
{
    uint32_t word;
    memcpy(&word, qemu_plugin_insn_data(instruction), sizeof word);
    for (size_t i = 0; i < sizeof encodings / sizeof *encodings; i++) {
        if ((word & encodings[i].mask) == encodings[i].bits) {
            return encodings[i].kind;
        }
    }
    return other;
}

/* A block of instructions is executed as a whole: let each time add what is in it. */
static void on_block(uint64_t plugin, struct block *block)
{
    uint64_t contained[kinds] = {0};
    size_t length = qemu_plugin_tb_n_insns(block);
    (void)plugin;
    for (size_t i = 0; i < length; i++) {
        contained[kind_of(qemu_plugin_tb_get_insn(block, i))]++;
    }
    for (int kind = 0; kind < kinds; kind++) {
        if (contained[kind] > 0) {
            qemu_plugin_register_vcpu_tb_exec_inline(block, ADD_TO_COUNTER, &executed[kind],
                                                     contained[kind]);
        }
    }
}

static void on_system_call(uint64_t plugin, unsigned int cpu, int64_t number, uint64_t a, uint64_t b,
                           uint64_t c, uint64_t d, uint64_t e, uint64_t f, uint64_t g, uint64_t h)
{
    (void)plugin, (void)cpu, (void)a, (void)b, (void)c, (void)d, (void)e, (void)f, (void)g, (void)h;
    if (number != MARK) {
        return;
    }
    for (int kind = 0; kind < kinds; kind++) {
        fprintf(output, "%" PRIu64 " ", executed[kind]);
    }
    fputc('\n', output);
    fflush(output);
}

EXPORTED int qemu_plugin_install(uint64_t plugin, const void *info, int count, char **arguments)
{
    (void)info;
    if (count != 1 || strncmp(arguments[0], "out=", 4) != 0 ||
        (output = fopen(arguments[0] + 4, "w")) == NULL) {
        fputs("counter: needs out=FILE, a file that can be written\n", stderr);
        return 1;
    }
    fputs(ALL_KINDS(AS_TEXT) "\n", output);
    fflush(output);
    qemu_plugin_register_vcpu_tb_trans_cb(plugin, on_block);
    qemu_plugin_register_vcpu_syscall_cb(plugin, on_system_call);
    return 0;
}
