/** CQL2-Text into CQL2-JSON, which `cql2.ts` then checks. A hand-written descent: no expression can make it run away. */
import { invalidField } from './problem.ts'
import { wktGeometry } from './cql2-wkt.ts'

const MAX_TEXT_LENGTH = 20_000
const MAX_DEPTH = 20

interface Token {
  kind: 'name' | 'quoted' | 'text' | 'number' | 'symbol' | 'end'
  text: string
  at: number
}

const PATTERNS: readonly (readonly [Token['kind'], RegExp])[] = [
  ['number', /[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?/y],
  ['text', /'(?:[^']|'')*'/y],
  ['quoted', /"(?:[^"]|"")*"/y],
  ['name', /[A-Za-z_][A-Za-z0-9_:.-]*/y],
  ['symbol', /<>|<=|>=|[=<>(),]/y],
]
const SPACE = /\s*/y

function tokensOf(source: string): Token[] {
  const tokens: Token[] = []
  for (let at = 0; ;) {
    SPACE.lastIndex = at
    at += SPACE.exec(source)![0].length
    if (at >= source.length) return [...tokens, { kind: 'end', text: '', at }]
    const token = tokenAt(source, at)
    if (!token) throw invalidField('filter', `cannot be read at character ${at + 1}: '${source.slice(at, at + 20)}'`)
    tokens.push(token)
    at += token.text.length
  }
}

function tokenAt(source: string, at: number): Token | null {
  for (const [kind, pattern] of PATTERNS) {
    pattern.lastIndex = at
    const found = pattern.exec(source)
    if (found) return { kind, text: found[0], at }
  }
  return null
}

export function cql2FromText(source: string): unknown {
  if (source.length > MAX_TEXT_LENGTH) throw invalidField('filter', `has more than ${MAX_TEXT_LENGTH} characters`)
  const parser = new Parser(tokensOf(source))
  const filter = parser.either(1)
  parser.end()
  return filter
}

const COMPARISONS = new Set(['=', '<>', '<', '<=', '>', '>='])
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

/** Names of the grammar are not case-sensitive; names of properties are. */
class Parser {
  readonly #tokens: readonly Token[]
  #next = 0

  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens
  }

  get #token(): Token {
    return this.#tokens[this.#next]!
  }

  refuse(wanted: string): Error {
    const { text, at, kind } = this.#token
    return invalidField(
      'filter',
      `has ${kind === 'end' ? 'its end' : `'${text.slice(0, 40)}'`} at character ${at + 1}, but needs ${wanted}`,
    )
  }

  /** Takes the next token if it is this word or symbol. */
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
    if (this.#token.kind !== 'number') throw this.refuse('a number')
    return Number(this.#tokens[this.#next++]!.text)
  }

  isNumber(): boolean {
    return this.#token.kind === 'number'
  }

  end(): void {
    if (this.#token.kind !== 'end') throw this.refuse('its end, AND or OR')
  }

  /** Lists of equal operators become one operator with many args. */
  #chain(word: 'AND' | 'OR', operand: () => unknown): unknown {
    const args = [operand()]
    while (this.accept(word)) args.push(operand())
    return args.length === 1 ? args[0] : { op: word.toLowerCase(), args }
  }

  either(depth: number): unknown {
    if (depth > MAX_DEPTH) throw invalidField('filter', `nests deeper than ${MAX_DEPTH} levels`)
    return this.#chain('OR', () => this.#chain('AND', () => this.#negated(depth)))
  }

  #negated(depth: number): unknown {
    if (depth > MAX_DEPTH) throw invalidField('filter', `nests deeper than ${MAX_DEPTH} levels`)
    if (this.accept('NOT')) return { op: 'not', args: [this.#negated(depth + 1)] }
    if (this.accept('(')) {
      const inner = this.either(depth + 1)
      this.expect(')')
      return inner
    }
    return this.#predicate()
  }

  #predicate(): unknown {
    const left = this.#operand()
    const { kind, text } = this.#token
    if (kind === 'symbol' && COMPARISONS.has(text)) {
      this.#next++
      return { op: text, args: [left, this.#operand()] }
    }
    if (this.accept('IS')) return this.#maybeNot(this.accept('NOT'), () => (this.expect('NULL'), { op: 'isNull', args: [left] }))
    return this.#listed(left, this.accept('NOT'))
  }

  #listed(left: unknown, isNegated: boolean): unknown {
    if (this.accept('LIKE')) return this.#maybeNot(isNegated, () => ({ op: 'like', args: [left, this.#operand()] }))
    if (this.accept('IN')) return this.#maybeNot(isNegated, () => ({ op: 'in', args: [left, this.#list()] }))
    if (this.accept('BETWEEN'))
      return this.#maybeNot(isNegated, () => {
        const low = this.#operand()
        this.expect('AND')
        return { op: 'between', args: [left, low, this.#operand()] }
      })
    if (isNegated) throw this.refuse('LIKE, IN or BETWEEN')
    // A function or a constant stands for itself; a property alone does not.
    if (typeof left === 'boolean' || (left !== null && typeof left === 'object' && 'op' in left)) return left
    throw this.refuse('a comparison')
  }

  #maybeNot(isNegated: boolean, read: () => unknown): unknown {
    const inner = read()
    return isNegated ? { op: 'not', args: [inner] } : inner
  }

  #list(): unknown[] {
    this.expect('(')
    const values = [this.#operand()]
    while (this.accept(',')) values.push(this.#operand())
    this.expect(')')
    return values
  }

  #operand(): unknown {
    const { kind, text } = this.#token
    if (kind === 'number') return this.number()
    if (kind === 'text') return this.#text()
    if (kind === 'quoted') {
      this.#next++
      return { property: text.slice(1, -1).replaceAll('""', '"') }
    }
    if (kind !== 'name') throw this.refuse('a property or a value')
    this.#next++
    return this.#named(text)
  }

  #text(): string {
    const { kind, text } = this.#token
    if (kind !== 'text') throw this.refuse("a text in '…'")
    this.#next++
    return text.slice(1, -1).replaceAll("''", "'")
  }

  #named(name: string): unknown {
    const word = name.toUpperCase()
    if (word === 'TRUE' || word === 'FALSE') return word === 'TRUE'
    if (GEOMETRIES.has(word) && (this.#token.text === '(' || /^(Z|EMPTY)$/i.test(this.#token.text))) return wktGeometry(this, word)
    if (!this.accept('(')) return { property: name }
    const args: unknown[] = []
    if (!this.accept(')')) {
      do args.push(this.#operand())
      while (this.accept(','))
      this.expect(')')
    }
    if (word === 'TIMESTAMP' || word === 'DATE') return { [word.toLowerCase()]: args[0] }
    if (word === 'INTERVAL') return { interval: args }
    return { op: name.toLowerCase(), args }
  }

  /** The word of a geometry inside a collection. */
  word(): string {
    const { kind, text } = this.#token
    if (kind !== 'name') throw this.refuse('the name of a geometry')
    this.#next++
    return text.toUpperCase()
  }
}
