import { applyBinary, applyFunction } from './operators.ts'
import type { Node } from './parse.ts'

/**
 * One step of an expression in postfix order: a number (null for no data), a band as `b4`, or an operator or function, which takes its
 * operands from the stack. `min` and `max` take two, `neg` is the sign.
 */
export type PostfixStep = number | null | string

/** An expression for programs that compute it elsewhere: names are resolved, constants folded, and nothing needs to be parsed. */
export function postfixOf(node: Node): PostfixStep[] {
  switch (node.kind) {
    case 'number':
      return [node.value]
    case 'band':
      return [`b${node.band}`]
    case 'negate':
      return joined('neg', [postfixOf(node.operand)], ([value]) => -value!)
    case 'binary':
      return joined(node.operator, [postfixOf(node.left), postfixOf(node.right)], ([a, b]) => applyBinary(node.operator, a!, b!))
    case 'call': {
      const { name } = node
      const operands = node.operands.map(postfixOf)
      const fold = (values: readonly number[]): number => applyFunction(name, values)
      if (name !== 'min' && name !== 'max') return joined(name, operands, fold)
      return operands.reduce((a, b) => joined(name, [a, b], fold))
    }
  }
}

function joined(name: string, operands: readonly PostfixStep[][], fold: (values: readonly number[]) => number): PostfixStep[] {
  const constants = operands.map(constantOf)
  if (!constants.every((value) => value !== undefined)) return [...operands.flat(), name]
  const value = fold(constants)
  return [Number.isNaN(value) ? null : value]
}

function constantOf(steps: readonly PostfixStep[]): number | undefined {
  const [only] = steps
  if (steps.length !== 1 || typeof only === 'string') return undefined
  return only ?? Number.NaN
}
