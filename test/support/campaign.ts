/**
 * How long a test looks for trouble: random inputs, mutants, kills. `npm test` looks a short while, because it is waited
 * for; CAMPAIGN=long looks at length, as .ci/run does.
 */
const LENGTHS = ['short', 'long'] as const
type Length = (typeof LENGTHS)[number]

export const campaignLength: Length = lengthOf(process.env['CAMPAIGN'] || 'short')

/** What to use in a campaign of the length that was asked for: `{ numRuns: campaign({ short: 200, long: 10_000 }) }`. */
export function campaign<T>(choices: Readonly<Record<Length, T>>): T {
  return choices[campaignLength]
}

/** A part of a large collection, spread over all of it: every file with 1, a quarter of them with 4. */
export function everyNth<T>(values: readonly T[], n: number): T[] {
  return values.filter((_, index) => index % n === 0)
}

function lengthOf(name: string): Length {
  const length = LENGTHS.find((known) => known === name)
  if (!length) throw new Error(`CAMPAIGN is ${LENGTHS.join(' or ')}, not ${name}.`)
  return length
}
