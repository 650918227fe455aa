/**
 * What each operator means for one pair of numbers. Constant folding uses these, and so does the reference evaluator of
 * the tests; `kernels.ts` holds the same meaning for whole segments. NaN stands for 'no data' everywhere.
 */
export const BINARY = ['+', '-', '*', '/', '**', '<', '<=', '>', '>=', '==', '!='] as const
export type BinaryOperator = (typeof BINARY)[number]

/** Each function with the least and the greatest number of its arguments. */
export const FUNCTIONS = {
  abs: [1, 1],
  sqrt: [1, 1],
  log: [1, 1],
  log10: [1, 1],
  exp: [1, 1],
  min: [2, 16],
  max: [2, 16],
  clip: [3, 3],
  where: [3, 3],
} as const satisfies Record<string, readonly [number, number]>
export type FunctionName = keyof typeof FUNCTIONS

const finite = (value: number): number => (Number.isFinite(value) ? value : Number.NaN)
const truth = (a: number, b: number, holds: boolean): number => (Number.isNaN(a) || Number.isNaN(b) ? Number.NaN : Number(holds))

export function applyBinary(operator: BinaryOperator, a: number, b: number): number {
  switch (operator) {
    case '+':
      return finite(a + b)
    case '-':
      return finite(a - b)
    case '*':
      return finite(a * b)
    case '/':
      return finite(a / b)
    case '**':
      return finite(power(a, b))
    case '<':
      return truth(a, b, a < b)
    case '<=':
      return truth(a, b, a <= b)
    case '>':
      return truth(a, b, a > b)
    case '>=':
      return truth(a, b, a >= b)
    case '==':
      return truth(a, b, a === b)
    case '!=':
      return truth(a, b, a !== b)
  }
}

/** JavaScript says NaN ** 0 is 1; no data raised to anything is no data. */
const power = (a: number, b: number): number => (Number.isNaN(a) ? a : a ** b)

export function applyFunction(name: FunctionName, values: readonly number[]): number {
  const [a = Number.NaN, b = Number.NaN, c = Number.NaN] = values
  switch (name) {
    case 'abs':
      return Math.abs(a)
    case 'sqrt':
      return Math.sqrt(a)
    case 'log':
      return finite(Math.log(a))
    case 'log10':
      return finite(Math.log10(a))
    case 'exp':
      return finite(Math.exp(a))
    case 'min':
      return Math.min(...values)
    case 'max':
      return Math.max(...values)
    case 'clip':
      return Math.min(Math.max(a, b), c)
    case 'where':
      return Number.isNaN(a) ? a : a !== 0 ? b : c
  }
}
