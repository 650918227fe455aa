/** Translates a style into a program for the graphics processor, from the steps that the service parsed. */
import type { DataHeader, Step } from './data-tile.ts'

/** A style that only the service can render. */
export class NotTranslated extends Error {}

/** Integers up to this are exact in 32-bit floats. */
const EXACT = 2 ** 24
const MAX_FLOAT = 3.4028234663852886e38
const MIN_NORMAL = 1.1754943508222875e-38
const MAX_POWER = 8

/** What samples are stored as: types with more digits than a 32-bit float has are rounded. */
type Storage = 'unsigned' | 'signed' | 'float'
export const storageOf = ({ type }: DataHeader): Storage =>
  type === 'uint8' || type === 'uint16' ? 'unsigned' : type === 'int8' || type === 'int16' ? 'signed' : 'float'

export const VERTEX_SHADER = `#version 300 es
void main() {
  gl_Position = vec4(vec2(gl_VertexID & 1, gl_VertexID >> 1) * 4.0 - 1.0, 0.0, 1.0);
}`

const SAMPLERS: Record<Storage, string> = { unsigned: 'usampler2DArray', signed: 'isampler2DArray', float: 'sampler2DArray' }

/** Searches the thresholds of a channel, which ascend. */
const COMMON = `
uniform highp sampler2D thresholds;
uniform highp usampler2D mask;
uniform bool hasMask;
uniform highp sampler2D colors;
uniform bool hasColors;
out vec4 pixel;
int byteOf(float value, int channel) {
  int found = 0;
  for (int width = 128; width > 0; width >>= 1)
    if (value >= texelFetch(thresholds, ivec2(found + width, channel), 0).r) found += width;
  return found;
}
bool isFinite(float value) { return abs(value) <= 3.4e38; }
bool isNear(float a, float b) { return abs(a - b) <= 1e-6 * max(abs(a), abs(b)); }
float powerOf(float base, float exponent, inout bool isValid) {
  if (exponent == 0.0) return 1.0;
  if (base == 0.0) { isValid = isValid && exponent > 0.0; return 0.0; }
  float size = pow(abs(base), exponent);
  if (base > 0.0) return size;
  isValid = isValid && exponent == floor(exponent);
  return mod(exponent, 2.0) == 0.0 ? size : -size;
}`

/** The fragment shader of a style. Throws `NotTranslated`. */
export function shaderOf(header: DataHeader): string {
  const { style } = header
  if (style.kind === 'palette') throw new NotTranslated('classes')
  if (style.kind === 'single' && style.hillshade) throw new NotTranslated('hillshade')
  const writer = new Writer(header)
  const channels =
    style.kind === 'rgb'
      ? style.bands.map((band) => writer.sample(band))
      : style.kind === 'single'
        ? [writer.sample(style.band)]
        : style.results.map((steps) => writer.result(steps))
  if (channels.length !== 1 && channels.length !== 3) throw new NotTranslated(`${channels.length} results`)
  const valid = channels.map(({ valid }) => valid).join(' && ')
  const color =
    channels.length === 3
      ? `vec3(${channels.map(({ value }, index) => `byteOf(${value}, ${index})`).join(', ')}) / 255.0`
      : `hasColors ? texelFetch(colors, ivec2(byteOf(${channels[0]!.value}, 0), 0), 0).rgb : vec3(byteOf(${channels[0]!.value}, 0)) / 255.0`
  return `#version 300 es
precision highp float;
precision highp int;
uniform highp ${SAMPLERS[storageOf(header)]} samples;${COMMON}
void main() {
  ivec2 at = ivec2(gl_FragCoord.xy);
  uint alpha = hasMask ? texelFetch(mask, at, 0).r : 255u;
${writer.lines.join('\n')}
  if (alpha == 0u || !(${valid})) { pixel = vec4(0.0); return; }
  vec3 color = ${color};
  float opacity = float(alpha) / 255.0;
  pixel = vec4(color * opacity, opacity);
}`
}

/** A variable of the program. */
interface Value {
  value: string
  /** A condition: whether it is data. */
  valid: string
  /** Without any rounding, so that it can be compared with another such value. */
  isExact: boolean
  /** The largest size of an integer; null for other numbers. */
  integerBound: number | null
  constant?: number
}

const ALWAYS = 'true'
const both = (...values: readonly Value[]) => [...new Set(values.map(({ valid }) => valid))].filter((valid) => valid !== ALWAYS)
const validIf = (conditions: readonly string[]) => conditions.join(' && ') || ALWAYS

class Writer {
  readonly lines: string[] = []
  readonly #header: DataHeader
  readonly #bands = new Map<number, Value>()

  constructor(header: DataHeader) {
    this.#header = header
  }

  /** The stored sample, without its scale. */
  sample(band: number): Value {
    const plane = this.#header.bands.indexOf(band)
    if (plane < 0) throw new NotTranslated(`b${band}`)
    return this.#add(`float(texelFetch(samples, ivec3(at, ${plane}), 0).r)`, [], this.#exactness())
  }

  result(steps: readonly Step[]): Value {
    const stack: Value[] = []
    for (const step of steps) stack.push(this.#step(step, stack))
    if (stack.length !== 1) throw new NotTranslated('unbalanced steps')
    return stack[0]!
  }

  #exactness(): Pick<Value, 'isExact' | 'integerBound'> {
    const integerBound = { uint8: 255, int8: 128, uint16: 65_535, int16: 32_768 }[this.#header.type as string] ?? null
    return { isExact: integerBound !== null || this.#header.type === 'float32', integerBound }
  }

  #step(step: Step, stack: Value[]): Value {
    if (step === null) return { value: '0.0', valid: 'false', isExact: true, integerBound: 0 }
    if (typeof step === 'number') return constant(step)
    const band = /^b(\d+)$/.exec(step)
    if (band) return this.#band(Number(band[1]))
    const count = step === 'clip' || step === 'where' ? 3 : UNARY.has(step) ? 1 : 2
    const operands = stack.splice(-count)
    if (operands.length < count) throw new NotTranslated('unbalanced steps')
    return this.#operation(step, operands as [Value, Value, Value])
  }

  #band(band: number): Value {
    const known = this.#bands.get(band)
    if (known) return known
    const sample = this.sample(band)
    const scale = this.#header.scales?.[this.#header.bands.indexOf(band)]
    const isPlain = !scale || (scale.scale === 1 && scale.offset === 0)
    const value = isPlain
      ? sample
      : this.#add(`${sample.value} * ${literal(scale.scale)} + ${literal(scale.offset)}`, [], { isExact: false, integerBound: null })
    this.#bands.set(band, value)
    return value
  }

  #operation(name: string, [a, b, c]: [Value, Value, Value]): Value {
    switch (name) {
      case 'neg':
        return this.#add(`-${a.value}`, both(a), a)
      case 'abs':
        return this.#add(`abs(${a.value})`, both(a), a)
      case '+':
      case '-':
        return this.#sum(
          `${a.value} ${name} ${b.value}`,
          [a, b],
          bounded(a, b, (x, y) => x + y),
        )
      case '*':
        return this.#sum(
          `${a.value} * ${b.value}`,
          [a, b],
          bounded(a, b, (x, y) => x * y),
        )
      case '/':
        return this.#sum(`${a.value} / ${b.value}`, [a, b], null, [`${b.value} != 0.0`])
      case '**':
        return this.#power(a, b)
      case 'sqrt':
        return this.#sum(`sqrt(${a.value})`, [a], null, [`${a.value} >= 0.0`])
      case 'log':
        return this.#sum(`log(${a.value})`, [a], null, [`${a.value} > 0.0`])
      case 'log10':
        return this.#sum(`log2(${a.value}) * 0.30102999566398120`, [a], null, [`${a.value} > 0.0`])
      case 'exp':
        return this.#sum(`exp(${a.value})`, [a], null)
      case 'min':
      case 'max':
        return this.#add(`${name}(${a.value}, ${b.value})`, both(a, b), either(a, b))
      case 'clip':
        return this.#add(`min(max(${a.value}, ${b.value}), ${c.value})`, both(a, b, c), either(a, b, c))
      case 'where':
        return this.#where(a, b, c)
      default:
        return this.#comparison(name, a, b)
    }
  }

  #where(condition: Value, yes: Value, no: Value): Value {
    const chosen = `(${condition.value} != 0.0 ? ${yes.valid} : ${no.valid})`
    const conditions = [...both(condition), ...(yes.valid === no.valid ? both(yes) : [chosen])]
    return this.#add(`${condition.value} != 0.0 ? ${yes.value} : ${no.value}`, conditions, either(yes, no))
  }

  #power(base: Value, exponent: Value): Value {
    const { constant: power } = exponent
    if (power !== undefined && Number.isInteger(power) && power >= 1 && power <= MAX_POWER)
      return this.#sum(Array.from({ length: power }, () => base.value).join(' * '), [base], null)
    if (power === 0.5) return this.#sum(`sqrt(${base.value})`, [base], null, [`${base.value} >= 0.0`])
    const name = `x${this.lines.length}`
    this.lines.push(`  bool ${name}v = ${validIf(both(base, exponent))};`)
    this.lines.push(`  float ${name} = powerOf(${base.value}, ${exponent.value}, ${name}v);`)
    this.lines.push(`  ${name}v = ${name}v && isFinite(${name});`)
    return { value: name, valid: `${name}v`, isExact: false, integerBound: null }
  }

  /** Values that were rounded on the way to equality count as equal. */
  #comparison(name: string, a: Value, b: Value): Value {
    const isExact = a.isExact && b.isExact
    const near = `isNear(${a.value}, ${b.value})`
    const plain = `${a.value} ${name} ${b.value}`
    const rounded =
      { '<': `${plain} && !${near}`, '>': `${plain} && !${near}`, '==': near, '!=': `!${near}` }[name] ?? `${plain} || ${near}`
    if (!COMPARISONS.has(name)) throw new NotTranslated(name)
    return this.#add(`(${isExact ? plain : rounded}) ? 1.0 : 0.0`, both(a, b), { isExact: true, integerBound: 1 })
  }

  /** An operation whose result can be infinite. */
  #sum(expression: string, operands: readonly Value[], integerBound: number | null, conditions: readonly string[] = []): Value {
    const isExact = integerBound !== null
    const valid = [...both(...operands), ...conditions]
    return this.#add(expression, valid, { isExact, integerBound }, !isExact)
  }

  #add(
    expression: string,
    conditions: readonly string[],
    { isExact, integerBound }: Pick<Value, 'isExact' | 'integerBound'>,
    mayOverflow = false,
  ) {
    const name = `x${this.lines.length}`
    this.lines.push(`  float ${name} = ${expression};`)
    const all = mayOverflow ? [...conditions, `isFinite(${name})`] : conditions
    if (all.length === 0) return { value: name, valid: ALWAYS, isExact, integerBound }
    this.lines.push(`  bool ${name}v = ${validIf(all)};`)
    return { value: name, valid: `${name}v`, isExact, integerBound }
  }
}

const UNARY = new Set(['neg', 'abs', 'sqrt', 'log', 'log10', 'exp'])
const COMPARISONS = new Set(['<', '<=', '>', '>=', '==', '!='])

function bounded(a: Value, b: Value, join: (x: number, y: number) => number): number | null {
  if (a.integerBound === null || b.integerBound === null) return null
  const bound = join(a.integerBound, b.integerBound)
  return bound < EXACT ? bound : null
}

/** Of a value that is one of these. */
const either = (...values: readonly Value[]): Pick<Value, 'isExact' | 'integerBound'> => ({
  isExact: values.every(({ isExact }) => isExact),
  integerBound: values.every(({ integerBound }) => integerBound !== null)
    ? Math.max(...values.map(({ integerBound }) => integerBound!))
    : null,
})

function constant(value: number): Value {
  const isInteger = Number.isInteger(value) && Math.abs(value) < EXACT
  return {
    value: literal(value),
    valid: ALWAYS,
    isExact: Math.fround(value) === value,
    integerBound: isInteger ? Math.abs(value) : null,
    constant: value,
  }
}

/** A number that 32 bits cannot hold is left to the service. */
function literal(value: number): string {
  const size = Math.abs(value)
  if (size > MAX_FLOAT || (size > 0 && size < MIN_NORMAL)) throw new NotTranslated(String(value))
  const text = String(Math.fround(value))
  const decimal = /[.e]/.test(text) ? text : `${text}.0`
  return value < 0 ? `(${decimal})` : decimal
}
