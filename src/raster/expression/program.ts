import { BINARY_KERNELS, finite, FUNCTION_KERNELS, negate, type Kernel, type Register } from './kernels.ts'
import { applyBinary, applyFunction } from './operators.ts'
import type { Node } from './parse.ts'

/** One operation over registers, all named by number. */
interface Step {
  kernel: Kernel
  out: number
  operands: readonly [number, number, number]
}

export interface Program {
  steps: Step[]
  registerCount: number
  /** Registers that hold the samples of each band of `bands`. */
  bandRegisters: number[]
  /** Registers that hold a number for the whole run. */
  constants: { register: number; value: number }[]
  resultRegisters: number[]
}

interface Value {
  /** What it computes; equal keys are the same value, computed once. */
  key: string
  kernel: Kernel | null
  operands: number[]
  constant: number | null
  /** No finite result is larger in size than this; Infinity means it may overflow. */
  bound: number
}

/** Sums and products below this bound cannot overflow. */
const SAFE_BOUND = 1e300

/** Compiles trees into a straight list of steps: constants folded, common parts computed once, registers reused. */
export function buildProgram(results: readonly Node[], bands: readonly number[], bandBound: number): Program {
  const graph = new Graph(bands, bandBound)
  const roots = results.map((node) => graph.add(node))
  return allocate(graph.values, roots, bands.length)
}

class Graph {
  readonly values: Value[] = []
  private readonly byKey = new Map<string, number>()
  private readonly bands: readonly number[]

  constructor(bands: readonly number[], bandBound: number) {
    this.bands = bands
    // The bands come first, so that the value number of a band is its place in `bands`.
    for (const band of bands) this.intern({ key: `b${band}`, kernel: null, operands: [], constant: null, bound: bandBound })
  }

  add(node: Node): number {
    switch (node.kind) {
      case 'number':
        return this.constant(node.value)
      case 'band':
        return this.bands.indexOf(node.band)
      case 'negate': {
        const a = this.add(node.operand)
        return this.step('neg', negate, [a], { bound: this.bound(a), fold: (x) => -x })
      }
      case 'binary':
        return this.binary(node)
      case 'call':
        return this.call(node)
    }
  }

  private binary({ operator, left, right }: Extract<Node, { kind: 'binary' }>): number {
    const a = this.add(left)
    const b = this.add(right)
    const fold = (x: number, y: number): number => applyBinary(operator, x, y)
    return this.step(operator, BINARY_KERNELS[operator], [a, b], { bound: binaryBound(operator, this.bound(a), this.bound(b)), fold })
  }

  private call({ name, operands }: Extract<Node, { kind: 'call' }>): number {
    const numbers = operands.map((operand) => this.add(operand))
    const kernel = FUNCTION_KERNELS[name]
    const fold = (...values: number[]): number => applyFunction(name, values)
    const bounds = numbers.map((number) => this.bound(number))
    if (name !== 'min' && name !== 'max') return this.step(name, kernel, numbers, { bound: callBound(name, bounds), fold })
    // Many values become a chain of pairs.
    return numbers.reduce((a, b) => this.step(name, kernel, [a, b], { bound: Math.max(this.bound(a), this.bound(b)), fold }))
  }

  private step(name: string, kernel: Kernel, operands: number[], rules: { bound: number; fold: (...values: number[]) => number }): number {
    const constants = operands.map((operand) => this.values[operand]?.constant ?? null)
    if (constants.every((value) => value !== null)) return this.constant(rules.fold(...constants))
    const value = this.intern({ key: `${name}(${operands.join()})`, kernel, operands, constant: null, bound: rules.bound })
    const needsCheck = rules.bound > SAFE_BOUND && UNCHECKED.has(name)
    return needsCheck
      ? this.intern({ key: `finite(${value})`, kernel: finite, operands: [value], constant: null, bound: Number.MAX_VALUE })
      : value
  }

  private constant(value: number): number {
    const bound = Number.isNaN(value) ? 0 : Math.abs(value)
    return this.intern({ key: `${Object.is(value, -0) ? '-0' : value}`, kernel: null, operands: [], constant: value, bound })
  }

  private bound(value: number): number {
    return this.values[value]?.bound ?? Number.POSITIVE_INFINITY
  }

  private intern(value: Value): number {
    const known = this.byKey.get(value.key)
    if (known !== undefined) return known
    this.byKey.set(value.key, this.values.length)
    return this.values.push(value) - 1
  }
}

/** Kernels that may give an infinite number and do not check it themselves. */
const UNCHECKED = new Set(['+', '-', '*'])

function binaryBound(operator: string, a: number, b: number): number {
  if (operator === '+' || operator === '-') return a + b
  if (operator === '*') return a * b
  return operator === '/' || operator === '**' ? Number.MAX_VALUE : 1
}

function callBound(name: string, bounds: readonly number[]): number {
  const largest = Math.max(...bounds)
  if (name === 'exp') return Number.MAX_VALUE
  // |log x| of any finite positive number, denormals included, stays below this.
  return name === 'log' || name === 'log10' ? 800 : name === 'sqrt' ? Math.max(1, largest) : largest
}

/** Gives each value a register; one whose last reader has run is free for the next value. */
function allocate(values: readonly Value[], roots: readonly number[], bandCount: number): Program {
  const lastUse = new Map<number, number>()
  const needed = reachable(values, roots)
  for (const index of needed) for (const operand of values[index]?.operands ?? []) lastUse.set(operand, index)
  for (const root of roots) lastUse.set(root, Number.POSITIVE_INFINITY)

  const registers = new Map<number, number>()
  const free: number[] = []
  const program: Program = { steps: [], registerCount: 0, bandRegisters: [], constants: [], resultRegisters: [] }
  const take = (): number => free.pop() ?? program.registerCount++
  for (let band = 0; band < bandCount; band++) {
    registers.set(band, take())
    program.bandRegisters.push(registers.get(band) as number)
  }
  for (const index of needed) {
    const { kernel, operands, constant } = values[index] as Value
    if (constant !== null) {
      // Filled once for the whole run, so no step before or after may write to it: never a reused register.
      registers.set(index, program.registerCount++)
      program.constants.push({ register: registers.get(index) as number, value: constant })
    } else if (kernel) {
      const [a = 0, b = a, c = a] = operands.map((operand) => registers.get(operand) as number)
      for (const operand of new Set(operands)) {
        if (lastUse.get(operand) === index && values[operand]?.constant === null) free.push(registers.get(operand) as number)
      }
      registers.set(index, take())
      program.steps.push({ kernel, out: registers.get(index) as number, operands: [a, b, c] })
    }
  }
  program.resultRegisters = roots.map((root) => registers.get(root) as number)
  return program
}

/** The values that the results need, in an order in which operands come first. */
function reachable(values: readonly Value[], roots: readonly number[]): number[] {
  const needed = new Set<number>(roots)
  for (let index = values.length - 1; index >= 0; index--) {
    if (needed.has(index)) for (const operand of values[index]?.operands ?? []) needed.add(operand)
  }
  return [...needed].sort((a, b) => a - b)
}

/** Runs the steps over the first `count` samples of the registers. */
export function runProgram(program: Program, registers: readonly Register[], count: number): void {
  for (const { kernel, out, operands } of program.steps) {
    kernel(registers[out]!, registers[operands[0]]!, registers[operands[1]]!, registers[operands[2]]!, count)
  }
}
