/**
 * The operators over segments of samples. Every register holds finite numbers or NaN, which means 'no data'; each kernel
 * keeps that true. All take Float64Array only, so that the engine sees one array type and compiles tight loops.
 *
 * A result that may overflow passes through `finite`: x + x * 0 is x for finite x and NaN for an infinite one, without a
 * branch. The compiler leaves it out where the data type proves that nothing can overflow.
 */
import type { BinaryOperator, FunctionName } from './operators.ts'

/* oxlint-disable max-params -- a kernel's operands are its parameters: an object per call would be slower and no clearer */

export type Register = Float64Array
/** Writes `count` results into `out`, which may be one of the operands. Unused operands repeat the first. */
export type Kernel = (out: Register, a: Register, b: Register, c: Register, count: number) => void

export const BINARY_KERNELS: Readonly<Record<BinaryOperator, Kernel>> = {
  '+': (out, a, b, _c, count) => {
    for (let i = 0; i < count; i++) out[i] = a[i]! + b[i]!
  },
  '-': (out, a, b, _c, count) => {
    for (let i = 0; i < count; i++) out[i] = a[i]! - b[i]!
  },
  '*': (out, a, b, _c, count) => {
    for (let i = 0; i < count; i++) out[i] = a[i]! * b[i]!
  },
  '/': (out, a, b, _c, count) => {
    for (let i = 0; i < count; i++) {
      const quotient = a[i]! / b[i]!
      out[i] = quotient + quotient * 0
    }
  },
  '**': (out, a, b, _c, count) => {
    for (let i = 0; i < count; i++) {
      const base = a[i]!
      const power = base ** b[i]! + base * 0
      out[i] = power + power * 0
    }
  },
  '<': (out, a, b, _c, count) => {
    for (let i = 0; i < count; i++) {
      const x = a[i]!
      const y = b[i]!
      out[i] = x === x && y === y ? (x < y ? 1 : 0) : NaN
    }
  },
  '<=': (out, a, b, _c, count) => {
    for (let i = 0; i < count; i++) {
      const x = a[i]!
      const y = b[i]!
      out[i] = x === x && y === y ? (x <= y ? 1 : 0) : NaN
    }
  },
  '>': (out, a, b, _c, count) => {
    for (let i = 0; i < count; i++) {
      const x = a[i]!
      const y = b[i]!
      out[i] = x === x && y === y ? (x > y ? 1 : 0) : NaN
    }
  },
  '>=': (out, a, b, _c, count) => {
    for (let i = 0; i < count; i++) {
      const x = a[i]!
      const y = b[i]!
      out[i] = x === x && y === y ? (x >= y ? 1 : 0) : NaN
    }
  },
  '==': (out, a, b, _c, count) => {
    for (let i = 0; i < count; i++) {
      const x = a[i]!
      const y = b[i]!
      out[i] = x === x && y === y ? (x === y ? 1 : 0) : NaN
    }
  },
  '!=': (out, a, b, _c, count) => {
    for (let i = 0; i < count; i++) {
      const x = a[i]!
      const y = b[i]!
      out[i] = x === x && y === y ? (x !== y ? 1 : 0) : NaN
    }
  },
}

export const FUNCTION_KERNELS: Readonly<Record<FunctionName, Kernel>> = {
  abs: (out, a, _b, _c, count) => {
    for (let i = 0; i < count; i++) out[i] = Math.abs(a[i]!)
  },
  sqrt: (out, a, _b, _c, count) => {
    for (let i = 0; i < count; i++) out[i] = Math.sqrt(a[i]!)
  },
  log: (out, a, _b, _c, count) => {
    for (let i = 0; i < count; i++) {
      const value = a[i]!
      out[i] = value > 0 ? Math.log(value) : NaN
    }
  },
  log10: (out, a, _b, _c, count) => {
    for (let i = 0; i < count; i++) {
      const value = a[i]!
      out[i] = value > 0 ? Math.log10(value) : NaN
    }
  },
  exp: (out, a, _b, _c, count) => {
    for (let i = 0; i < count; i++) {
      const value = Math.exp(a[i]!)
      out[i] = value + value * 0
    }
  },
  min: (out, a, b, _c, count) => {
    for (let i = 0; i < count; i++) out[i] = Math.min(a[i]!, b[i]!)
  },
  max: (out, a, b, _c, count) => {
    for (let i = 0; i < count; i++) out[i] = Math.max(a[i]!, b[i]!)
  },
  clip: (out, a, b, c, count) => {
    for (let i = 0; i < count; i++) out[i] = Math.min(Math.max(a[i]!, b[i]!), c[i]!)
  },
  where: (out, a, b, c, count) => {
    for (let i = 0; i < count; i++) {
      const condition = a[i]!
      out[i] = condition === condition ? (condition !== 0 ? b[i]! : c[i]!) : NaN
    }
  },
}

export const negate: Kernel = (out, a, _b, _c, count) => {
  for (let i = 0; i < count; i++) out[i] = -a[i]!
}

/** Turns infinite values into NaN, in place or not. */
export const finite: Kernel = (out, a, _b, _c, count) => {
  for (let i = 0; i < count; i++) {
    const value = a[i]!
    out[i] = value + value * 0
  }
}
