/**
 * How long a test looks for trouble: random inputs, mutants, kills. `npm test` looks a short while, because it is waited
 * for; CAMPAIGN=long looks at length; CAMPAIGN=ci, which .ci/run asks for, does the same but where that takes many minutes.
 */
const LENGTHS = ['short', 'ci', 'long'] as const
type Length = (typeof LENGTHS)[number]
/** What says nothing of `ci` is short enough at length. */
type Choices<T> = Readonly<{ short: T; long: T; ci?: T }>

export const campaignLength: Length = lengthOf(process.env['CAMPAIGN'] || 'short')

/** What to use in a campaign of the length that was asked for: `{ numRuns: campaign({ short: 200, long: 10_000 }) }`. */
export function campaign<T>(choices: Choices<T>): T {
  return choices[campaignLength] ?? choices.long
}

/** A part of a large collection, spread over all of it: every file with 1, a quarter of them with 4. */
export function everyNth<T>(values: readonly T[], n: number): T[] {
  return values.filter((_, index) => index % n === 0)
}

/**
 * What random choices begin with: another number each time, or TEST_SEED. CI takes it from the commit, so that a run can be repeated
 * and the next commit tries something else.
 */
export const testSeed = process.env['TEST_SEED'] ? Number(process.env['TEST_SEED']) >>> 0 : Math.floor(Math.random() * 2 ** 32)

/** One in n, others each time. */
export function someOf<T>(values: readonly T[], n: number): T[] {
  const first = testSeed % n
  return values.filter((_, index) => index % n === first)
}

function lengthOf(name: string): Length {
  const length = LENGTHS.find((known) => known === name)
  if (!length) throw new Error(`CAMPAIGN is ${LENGTHS.join(', ')}, not ${name}.`)
  return length
}
