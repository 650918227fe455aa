/** CQL2-Text to CQL2-JSON, which `cql2.ts` then validates. A hand-written recursive-descent parser with bounded depth. */
import { MAX_FILTER_DEPTH } from './cql2.ts'
import { invalidField } from './problem.ts'
import { wktGeometry } from './cql2-wkt.ts'

export const MAX_TEXT_LENGTH = 20_000

interface Token {
  kind: 'name' | 'quoted' | 'text' | 'number' | 'symbol' | 'end'
  text: string
  at: number
}

const PATTERNS: readonly (readonly [Token['kind'], RegExp])[] = [
  ['number', /(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?/y],
  ['text', /'(?:[^']|'')*'/y],
  ['quoted', /"(?:[^"]|"")*"/y],
  ['name', /[A-Za-z_][A-Za-z0-9_:.]*/y],
  ['symbol', /<>|<=|>=|[=<>(),+*/%^-]/y],
]
const SPACE = /\s*/y

function tokensOf(source: string): Token[] {
  const tokens: Token[] = []
  for (let at = 0; ;) {
    SPACE.lastIndex = at
    at += SPACE.exec(source)![0].length
    if (at >= source.length) return [...tokens, { kind: 'end', text: '', at }]
    const token = tokenAt(source, at)
    if (!token) throw invalidField('filter', `has unexpected characters at position ${at + 1}: '${source.slice(at, at + 20)}'`)
    tokens.push(token)
    at += token.text.length
  }
}

function tokenAt(source: string, at: number): Token | null {
  for (const [kind, pattern] of PATTERNS) {
    pattern.lastIndex = at
    const match = pattern.exec(source)
    if (match) return { kind, text: match[0], at }
  }
  return null
}

export function cql2FromText(source: string): unknown {
  if (source.length > MAX_TEXT_LENGTH) throw invalidField('filter', `must have at most ${MAX_TEXT_LENGTH} characters`)
  const parser = new Parser(tokensOf(source))
  const filter = parser.either(1)
  parser.end()
  return filter
}

const COMPARISONS = new Set(['=', '<>', '<', '<=', '>', '>='])
/** Operators by increasing precedence; operators of one row associate to the left. */
const ARITHMETIC: readonly (readonly string[])[] = [['+', '-'], ['*', '/', '%', 'DIV'], ['^']]
/** Tokens that can follow an operand in parentheses, but not an expression. */
const AFTER_OPERAND = new Set([...COMPARISONS, ...ARITHMETIC.flat(), 'IS', 'NOT', 'LIKE', 'IN', 'BETWEEN'])
/** Names that CQL2-JSON writes in mixed case; names in CQL2-Text are case-insensitive. */
const SPELLINGS: ReadonlyMap<string, string> = new Map(
  ['isNull', 'a_containedBy', 'a_equals', 't_finishedBy', 't_metBy', 't_overlappedBy', 't_startedBy'].map((name) => [
    name.toLowerCase(),
    name,
  ]),
)
const GEOMETRIES = new Set([
  'POINT',
  'LINESTRING',
  'POLYGON',
  'MULTIPOINT',
  'MULTILINESTRING',
  'MULTIPOLYGON',
  'GEOMETRYCOLLECTION',
  'BBOX',
])

/** Keywords are case-insensitive; property names are not. */
class Parser {
  readonly #tokens: readonly Token[]
  #next = 0

  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens
  }

  get #token(): Token {
    return this.#tokens[this.#next]!
  }

  refuse(expected: string): Error {
    const { text, at, kind } = this.#token
    return invalidField(
      'filter',
      `has an unexpected ${kind === 'end' ? 'end' : `'${text.slice(0, 40)}'`} at character ${at + 1}; expected ${expected}`,
    )
  }

  /** Consumes the next token if it is this word or symbol. */
  accept(word: string): boolean {
    const { kind, text } = this.#token
    const isIt = (kind === 'name' || kind === 'symbol') && text.toUpperCase() === word
    if (isIt) this.#next++
    return isIt
  }

  expect(word: string): void {
    if (!this.accept(word)) throw this.refuse(`'${word}'`)
  }

  number(): number {
    const sign = this.accept('-') ? -1 : 1
    if (sign === 1) this.accept('+')
    if (this.#token.kind !== 'number') throw this.refuse('a number')
    return sign * Number(this.#tokens[this.#next++]!.text)
  }

  isNumber(): boolean {
    const { kind, text } = this.#token
    return kind === 'number' || (kind === 'symbol' && (text === '-' || text === '+'))
  }

  end(): void {
    if (this.#token.kind !== 'end') throw this.refuse('the end, AND or OR')
  }

  /** A sequence of the same operator becomes one operator with many args. */
  #chain(word: 'AND' | 'OR', operand: () => unknown): unknown {
    const args = [operand()]
    while (this.accept(word)) args.push(operand())
    return args.length === 1 ? args[0] : { op: word.toLowerCase(), args }
  }

  either(depth: number): unknown {
    if (depth > MAX_FILTER_DEPTH) throw invalidField('filter', `must not be nested deeper than ${MAX_FILTER_DEPTH} levels`)
    return this.#chain('OR', () => this.#chain('AND', () => this.#negated(depth)))
  }

  #negated(depth: number): unknown {
    if (depth > MAX_FILTER_DEPTH) throw invalidField('filter', `must not be nested deeper than ${MAX_FILTER_DEPTH} levels`)
    if (this.accept('NOT')) return { op: 'not', args: [this.#negated(depth + 1)] }
    if (!this.#isOperand() && this.accept('(')) {
      const inner = this.either(depth + 1)
      this.expect(')')
      return inner
    }
    return this.#predicate(depth)
  }

  /** Whether the open parenthesis contains an operand, as in `(a + 1) > 2`: an operator follows its closing parenthesis. */
  #isOperand(): boolean {
    if (this.#token.text !== '(') return true
    let open = 0
    for (let at = this.#next; at < this.#tokens.length; at++) {
      const { kind, text } = this.#tokens[at]!
      if (kind !== 'symbol') continue
      if (text === '(') open++
      else if (text === ')' && --open === 0) return AFTER_OPERAND.has(this.#tokens[at + 1]!.text.toUpperCase())
    }
    return false
  }

  #predicate(depth: number): unknown {
    const left = this.#operand(depth)
    const { kind, text } = this.#token
    if (kind === 'symbol' && COMPARISONS.has(text)) {
      this.#next++
      return { op: text, args: [left, this.#operand(depth)] }
    }
    if (this.accept('IS')) return this.#maybeNot(this.accept('NOT'), () => (this.expect('NULL'), { op: 'isNull', args: [left] }))
    return this.#listed(left, this.accept('NOT'), depth)
  }

  #listed(left: unknown, isNegated: boolean, depth: number): unknown {
    if (this.accept('LIKE')) return this.#maybeNot(isNegated, () => ({ op: 'like', args: [left, this.#operand(depth)] }))
    if (this.accept('IN')) return this.#maybeNot(isNegated, () => ({ op: 'in', args: [left, this.#list(depth)] }))
    if (this.accept('BETWEEN'))
      return this.#maybeNot(isNegated, () => {
        const low = this.#operand(depth)
        this.expect('AND')
        return { op: 'between', args: [left, low, this.#operand(depth)] }
      })
    if (isNegated) throw this.refuse('LIKE, IN or BETWEEN')
    // A function or a constant is an expression of its own; a property is not.
    if (typeof left === 'boolean' || (left !== null && typeof left === 'object' && 'op' in left)) return left
    throw this.refuse('a comparison')
  }

  #maybeNot(isNegated: boolean, read: () => unknown): unknown {
    const inner = read()
    return isNegated ? { op: 'not', args: [inner] } : inner
  }

  #list(depth: number): unknown[] {
    this.expect('(')
    if (this.accept(')')) return []
    const values = [this.#operand(depth + 1)]
    while (this.accept(',')) values.push(this.#operand(depth + 1))
    this.expect(')')
    return values
  }

  /** A value, or arithmetic with values; also a list in parentheses. */
  #operand(depth: number, row = 0): unknown {
    if (depth > MAX_FILTER_DEPTH) throw invalidField('filter', `must not be nested deeper than ${MAX_FILTER_DEPTH} levels`)
    const operators = ARITHMETIC[row]
    if (!operators) return this.#factor(depth)
    let left = this.#operand(depth, row + 1)
    for (let terms = 1; ; terms++) {
      const operator = operators.find((each) => this.accept(each))
      if (operator === undefined) return left
      if (terms > MAX_FILTER_DEPTH) throw invalidField('filter', `must have at most ${MAX_FILTER_DEPTH} arithmetic terms`)
      left = { op: operator.toLowerCase(), args: [left, this.#operand(depth, row + 1)] }
    }
  }

  #factor(depth: number): unknown {
    if (depth > MAX_FILTER_DEPTH) throw invalidField('filter', `must not be nested deeper than ${MAX_FILTER_DEPTH} levels`)
    const { kind, text } = this.#token
    if (this.accept('+')) return this.#factor(depth + 1)
    if (this.accept('-')) {
      const value = this.#factor(depth + 1)
      return typeof value === 'number' ? -value : { op: '*', args: [-1, value] }
    }
    if (kind === 'symbol' && text === '(') {
      const values = this.#list(depth)
      return values.length === 1 ? values[0] : values
    }
    if (kind === 'number') return this.number()
    if (kind === 'text') return this.#text()
    if (kind === 'quoted') {
      this.#next++
      return { property: text.slice(1, -1).replaceAll('""', '"') }
    }
    if (kind !== 'name') throw this.refuse('a property or a value')
    this.#next++
    return this.#named(text, depth)
  }

  #text(): string {
    const { kind, text } = this.#token
    if (kind !== 'text') throw this.refuse("a string in '…'")
    this.#next++
    return text.slice(1, -1).replaceAll("''", "'")
  }

  #named(name: string, depth: number): unknown {
    const word = name.toUpperCase()
    if (word === 'TRUE' || word === 'FALSE') return word === 'TRUE'
    if (GEOMETRIES.has(word) && (this.#token.text === '(' || /^(Z|EMPTY)$/i.test(this.#token.text))) return wktGeometry(this, word)
    if (!this.accept('(')) return { property: name }
    const args: unknown[] = []
    if (!this.accept(')')) {
      do args.push(this.#operand(depth + 1))
      while (this.accept(','))
      this.expect(')')
    }
    if (word === 'TIMESTAMP' || word === 'DATE') return { [word.toLowerCase()]: args[0] }
    if (word === 'INTERVAL') return { interval: args }
    return { op: SPELLINGS.get(name.toLowerCase()) ?? name.toLowerCase(), args }
  }

  /** The name of a geometry inside a collection. */
  word(): string {
    const { kind, text } = this.#token
    if (kind !== 'name') throw this.refuse('the name of a geometry')
    this.#next++
    return text.toUpperCase()
  }
}
