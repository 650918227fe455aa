import { meant } from '#core/nearest.ts'
import { listBands } from './bands.ts'
import { ExpressionError } from './error.ts'
import { MAX_BAND, MAX_DEPTH } from './limits.ts'
import { BINARY, FUNCTIONS, type BinaryOperator, type FunctionName } from './operators.ts'
import { tokenize, type Token } from './tokens.ts'

export type Node =
  | { kind: 'number'; value: number }
  /** `band` counts from 1. */
  | { kind: 'band'; band: number }
  | { kind: 'negate'; operand: Node }
  | { kind: 'binary'; operator: BinaryOperator; left: Node; right: Node }
  | { kind: 'call'; name: FunctionName; operands: Node[] }

export interface Expression {
  source: string
  /** One tree per `;`-separated part. */
  results: Node[]
  /** The bands it reads, from 1, ascending, each once. */
  bands: number[]
}

export interface ParseOptions {
  /** Names that may stand for a band, for example `{ NIR: 4 }`. `bN` always means the band's own number. */
  names?: Readonly<Record<string, number>>
  /** The file's band count; a reference beyond it is refused here, where its place is known. */
  bandCount?: number
}

const COMPARISONS = new Set(['<', '<=', '>', '>=', '==', '!='])
const FUNCTION_NAMES = Object.keys(FUNCTIONS)
const BAND_PATTERN = /^b[1-9][0-9]?$/

/** Parses an expression, or throws an ExpressionError that points at the character. */
export function parseExpression(source: string, options: ParseOptions = {}): Expression {
  return new Parser(source, options).parse()
}

class Parser {
  private readonly source: string
  private readonly options: ParseOptions
  private readonly tokens: Token[]
  private readonly bands = new Set<number>()
  private index = 0
  private depth = 0

  constructor(source: string, options: ParseOptions) {
    this.source = source
    this.options = options
    this.tokens = tokenize(source)
  }

  parse(): Expression {
    const results = [this.comparison()]
    while (this.take(';')) {
      // A trailing semicolon is harmless and common.
      if (this.peek().kind === 'end') break
      results.push(this.comparison())
    }
    if (this.peek().kind !== 'end') throw this.unexpected()
    return { source: this.source, results, bands: [...this.bands].sort((a, b) => a - b) }
  }

  private comparison(): Node {
    const left = this.sum()
    const operator = this.takeAny(COMPARISONS)
    if (operator === undefined) return left
    const node = this.binary(operator, left, this.sum())
    const next = this.peek()
    if (next.kind === 'symbol' && COMPARISONS.has(next.text)) {
      throw new ExpressionError(`comparisons cannot be chained: '${next.text}'`, next.position)
    }
    return node
  }

  private sum(): Node {
    let node = this.product()
    for (;;) {
      const operator = this.takeAny(SUM)
      if (operator === undefined) return node
      node = this.binary(operator, node, this.product())
    }
  }

  private product(): Node {
    let node = this.signed()
    for (;;) {
      const operator = this.takeAny(PRODUCT)
      if (operator === undefined) return node
      node = this.binary(operator, node, this.signed())
    }
  }

  /** A sign binds weaker than a power: `-b1 ** 2` is `-(b1 ** 2)`, as in mathematics and in Python. */
  private signed(): Node {
    return this.nested(() => {
      if (this.take('-')) return { kind: 'negate', operand: this.signed() }
      if (this.take('+')) return this.signed()
      const base = this.primary()
      return this.take('**') ? this.binary('**', base, this.signed()) : base
    })
  }

  private primary(): Node {
    const token = this.peek()
    if (token.kind === 'number') {
      this.index += 1
      return { kind: 'number', value: token.value }
    }
    if (token.kind === 'name') {
      this.index += 1
      return this.take('(') ? this.call(token) : this.band(token)
    }
    if (!this.take('(')) throw this.unexpected()
    const node = this.comparison()
    this.expect(')')
    return node
  }

  private call(token: Token): Node {
    const name = token.text
    if (!Object.hasOwn(FUNCTIONS, name))
      throw new ExpressionError(
        `unknown function '${name}'`,
        token.position,
        meant(name, FUNCTION_NAMES, `the functions are ${FUNCTION_NAMES.join(', ')}`),
      )
    const [least, most] = FUNCTIONS[name as FunctionName]
    const operands = [this.comparison()]
    while (this.take(',')) operands.push(this.comparison())
    this.expect(')')
    if (operands.length < least || operands.length > most) {
      const range = least === most ? `${least}` : `${least} to ${most}`
      throw new ExpressionError(`${name} takes ${range} arguments, not ${operands.length},`, token.position)
    }
    return { kind: 'call', name: name as FunctionName, operands }
  }

  private band(token: Token): Node {
    const { names = {}, bandCount = MAX_BAND } = this.options
    const band = BAND_PATTERN.test(token.text)
      ? Number(token.text.slice(1))
      : Object.hasOwn(names, token.text)
        ? names[token.text]
        : undefined
    // Of a formula that is read for no file in particular there are no bands to list.
    const advice = () => (this.options.bandCount === undefined || bandCount > MAX_BAND ? '' : `; ${listBands(names, bandCount)}`)
    if (band === undefined || !Number.isInteger(band)) throw new ExpressionError(`unknown name '${token.text}'`, token.position, advice())
    if (band < 1 || band > bandCount)
      throw new ExpressionError(`band ${band} does not exist (there are ${bandCount}), used`, token.position, advice())
    this.bands.add(band)
    return { kind: 'band', band }
  }

  private binary(operator: BinaryOperator, left: Node, right: Node): Node {
    return { kind: 'binary', operator, left, right }
  }

  private nested(read: () => Node): Node {
    this.depth += 1
    if (this.depth > MAX_DEPTH) throw new ExpressionError(`nested deeper than ${MAX_DEPTH} levels`, this.peek().position)
    const node = read()
    this.depth -= 1
    return node
  }

  private peek(): Token {
    // The list ends with an `end` token that is never consumed, so the index stays inside.
    return this.tokens[this.index] as Token
  }

  private take(text: string): boolean {
    const token = this.peek()
    if (token.kind !== 'symbol' || token.text !== text) return false
    this.index += 1
    return true
  }

  private takeAny(symbols: ReadonlySet<string>): BinaryOperator | undefined {
    const token = this.peek()
    if (token.kind !== 'symbol' || !symbols.has(token.text)) return undefined
    this.index += 1
    return BINARY.find((operator) => operator === token.text)
  }

  private expect(text: string): void {
    if (!this.take(text)) throw this.unexpected(`Expected '${text}' but found `)
  }

  private unexpected(lead = 'Unexpected '): ExpressionError {
    const token = this.peek()
    const shown = token.kind === 'end' ? 'end of expression' : `'${token.text}'`
    return new ExpressionError(lead + shown, token.position)
  }
}

const SUM = new Set(['+', '-'])
const PRODUCT = new Set(['*', '/'])
