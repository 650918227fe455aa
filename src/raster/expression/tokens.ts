import { ExpressionError } from './error.ts'
import { MAX_CHARACTERS } from './limits.ts'

export type Token =
  | { kind: 'number'; value: number; position: number; text: string }
  | { kind: 'name'; position: number; text: string }
  | { kind: 'symbol'; position: number; text: string }
  | { kind: 'end'; position: number; text: string }

const TWO_CHARACTER_SYMBOLS = new Set(['**', '<=', '>=', '==', '!='])
const ONE_CHARACTER_SYMBOLS = new Set(['+', '-', '*', '/', '(', ')', ',', ';', '<', '>'])

const isDigit = (c: string): boolean => c >= '0' && c <= '9'
const isNameStart = (c: string): boolean => (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c === '_'
const isInName = (c: string): boolean => isNameStart(c) || isDigit(c)
const isSpace = (c: string): boolean => c === ' ' || c === '\t' || c === '\n' || c === '\r'

/** Splits an expression into tokens, one pass, no backtracking; the last token is always `end`. */
export function tokenize(source: string): Token[] {
  if (source.length > MAX_CHARACTERS) throw new ExpressionError(`longer than ${MAX_CHARACTERS} characters`, MAX_CHARACTERS + 1)
  const tokens: Token[] = []
  let index = 0
  while (index < source.length) {
    const c = source.charAt(index)
    if (isSpace(c)) {
      index += 1
      continue
    }
    const token = isDigit(c) || c === '.' ? readNumber(source, index) : isNameStart(c) ? readName(source, index) : readSymbol(source, index)
    tokens.push(token)
    index += token.text.length
  }
  tokens.push({ kind: 'end', position: source.length + 1, text: '' })
  return tokens
}

function skipDigits(source: string, start: number): number {
  let end = start
  while (isDigit(source.charAt(end))) end += 1
  return end
}

function readNumber(source: string, start: number): Token {
  let end = skipDigits(source, start)
  if (source.charAt(end) === '.') end = skipDigits(source, end + 1)
  const text = source.slice(start, end)
  if (text === '.') throw new ExpressionError("Unexpected '.'", start + 1)
  const exponent = readExponent(source, end)
  const value = Number(text + exponent)
  if (!Number.isFinite(value)) throw new ExpressionError(`number ${text}${exponent} is too large`, start + 1)
  return { kind: 'number', value, position: start + 1, text: text + exponent }
}

/** The exponent of `1e-4`, or nothing: in `2exp(b1)` the `e` belongs to a name, and the parser complains about that. */
function readExponent(source: string, start: number): string {
  if (source.charAt(start) !== 'e' && source.charAt(start) !== 'E') return ''
  const sign = source.charAt(start + 1)
  const digits = start + (sign === '+' || sign === '-' ? 2 : 1)
  const end = skipDigits(source, digits)
  return end > digits ? source.slice(start, end) : ''
}

/** A colon joins an asset key and a band of that asset: `analytic:nir`. */
function readName(source: string, start: number): Token {
  let end = start + 1
  while (isInName(source.charAt(end)) || (source.charAt(end) === ':' && isInName(source.charAt(end + 1)))) end += 1
  return { kind: 'name', position: start + 1, text: source.slice(start, end) }
}

function readSymbol(source: string, start: number): Token {
  const two = source.slice(start, start + 2)
  if (TWO_CHARACTER_SYMBOLS.has(two)) return { kind: 'symbol', position: start + 1, text: two }
  const character = source.charAt(start)
  if (ONE_CHARACTER_SYMBOLS.has(character)) return { kind: 'symbol', position: start + 1, text: character }
  // A character beyond the basic plane is two code units; show it whole.
  const shown = String.fromCodePoint(source.codePointAt(start) ?? 0)
  throw new ExpressionError(`Unexpected '${shown}'`, start + 1)
}
