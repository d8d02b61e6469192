// Executes a known number of instructions of each kind between marks, see test_counting.py.
    .arch armv8.6-a+dotprod+i8mm+sve
    .macro mark
    mov x8, MARK
    svc 0
    .endm

    .globl _start
_start:
    mark
    mark
    // dot: 6
    sdot v0.4s, v1.16b, v2.16b
    udot v0.2s, v1.8b, v2.8b
    sdot v0.4s, v1.16b, v2.4b[1]
    usdot v0.4s, v1.16b, v2.16b
    usdot v0.4s, v1.16b, v2.4b[3]
    sudot v0.4s, v1.16b, v2.4b[0]
    // mmla: 3
    smmla v0.4s, v1.16b, v2.16b
    ummla v0.4s, v1.16b, v2.16b
    usmmla v0.4s, v1.16b, v2.16b
    // fma: 10
    fmla v0.4s, v1.4s, v2.4s
    fmls v0.2d, v1.2d, v2.2d
    fmla v0.8h, v1.8h, v2.8h
    fmls v0.4h, v1.4h, v2.4h
    fmla v0.4s, v1.4s, v2.s[3]
    fmls v0.2d, v1.2d, v2.d[1]
    fmla v0.8h, v1.8h, v2.h[7]
    fmadd s0, s1, s2, s3
    fnmsub d0, d1, d2, d3
    fmadd h0, h1, h2, h3
    // long_multiply: 8
    smlal v0.4s, v1.4h, v2.4h
    umlsl2 v0.4s, v1.8h, v2.8h
    smull v0.8h, v1.8b, v2.8b
    umull2 v0.8h, v1.16b, v2.16b
    smlal v0.4s, v1.4h, v2.h[3]
    umlsl2 v0.2d, v1.4s, v2.s[1]
    smull v0.4s, v1.4h, v2.h[0]
    umull2 v0.4s, v1.8h, v2.h[7]
    // load_store: 7
    mov x1, sp
    sub x1, x1, 256
    str q0, [x1]
    ldr q0, [x1]
    ldp x2, x3, [x1, 16]
    stp d0, d1, [x1, 32]
    ldrb w2, [x1]
    ld1 {v0.16b, v1.16b}, [x1]
    st1 {v0.4s}, [x1]
    // simd: 6
    fmul v0.4s, v1.4s, v2.4s
    fadd s0, s1, s2
    mla v0.4s, v1.4s, v2.4s
    mul v0.8h, v1.8h, v2.8h
    dup v0.4s, w2
    sqrdmulh v0.4s, v1.4s, v2.4s
    // sve: 2
    ptrue p0.s
    fmla z0.s, p0/m, z1.s, z2.s
    // other, with the two above for the address: 3 + 2 * 4
    mov x5, 4
1:  subs x5, x5, 1
    b.ne 1b
    mark
    mov x0, 0
    mov x8, 94
    svc 0
